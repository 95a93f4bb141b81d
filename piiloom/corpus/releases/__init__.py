"""Releases: group and split records, freeze the result in the store, and export it to files."""
