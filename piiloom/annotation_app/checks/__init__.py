"""Live hints while a person edits, each with the operation that fixes the problem where one is known."""
