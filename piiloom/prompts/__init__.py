"""Versioned prompt templates, one per stage, and the code that renders them."""
