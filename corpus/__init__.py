"""Records: the data model, the store, import and export formats, and releases."""

if __name__ == "corpus":  # imported from a checkout on sys.path: this would be a second copy of the package
    raise ImportError("import it as piiloom.corpus")
