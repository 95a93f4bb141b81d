"""Schemes: what counts as found, one file each."""
