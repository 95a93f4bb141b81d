"""The budget, and the most that a call can cost."""
