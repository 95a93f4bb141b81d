"""Checksums and value checks that python-stdnum has not, one file a region; each function names the source of its rule."""
