"""Input files: read documents from each format, and write a file again with new texts in it."""
