"""What the dashboard shows: how far the work has come, and what people changed of what was generated."""
