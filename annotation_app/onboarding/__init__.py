"""Bringing people in and keeping them good: guidelines, practice, a test, hidden control records, and what these tell."""
