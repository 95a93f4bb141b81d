"""Counts of all documents, and what is computed from them: figures, intervals, differences."""
