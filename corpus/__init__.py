"""What a record is, where it is kept, and how it is read and written."""

if __name__ == "corpus":  # with a checkout on the path, a second copy of everything in here
    raise ImportError("import it as piiloom.corpus")
