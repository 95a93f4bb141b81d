"""Measuring detectors with a simulated model."""
