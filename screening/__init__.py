"""Gates over finished records: what a record must be before it is kept. ``screen.default_screen`` puts them in order."""

if __name__ == "screening":  # with a checkout on the path, a second copy of everything in here
    raise ImportError("import it as piiloom.screening")
