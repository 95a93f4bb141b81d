"""The budget of a run, and the most that a call can cost."""
