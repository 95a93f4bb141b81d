"""Texts from files: what is a document in each format, and how a file is written again with other words in it."""
