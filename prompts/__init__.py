"""Versioned prompt templates, one a stage, and what renders them."""
