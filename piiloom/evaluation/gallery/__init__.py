"""The error gallery: what a prediction got wrong, counted, and shown in its text on one HTML page."""
