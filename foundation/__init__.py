"""What every room stands on: errors, seeding, words, YAML and JSON files. Imports nothing of piiloom."""

if __name__ == "foundation":  # with a checkout on the path, a second copy of everything in here
    raise ImportError("import it as piiloom.foundation")
