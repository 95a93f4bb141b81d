"""Annotation of a single record: documents, operations on them, undo histories, merges and diffs. Nothing here does storage."""
