"""Whole commands that are measured against what others write for themselves."""
