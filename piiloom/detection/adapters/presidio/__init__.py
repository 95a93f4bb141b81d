"""presidio-analyzer as a detector: its engine with any pipeline of spaCy, or its patterns alone."""
