"""What detectors learn from releases."""
