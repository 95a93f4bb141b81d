"""Pages and pictures that are made from the code: ``python -m docs.making`` writes them, a test compares them with the files."""
