"""Helpers used by all other packages: errors, seeding, words, YAML files, Ctrl-C. Imports nothing else of piiloom."""

if __name__ == "foundation":  # with a checkout on sys.path, this would be a second copy of the package
    raise ImportError("import it as piiloom.foundation")
