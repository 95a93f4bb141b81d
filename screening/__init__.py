"""Quality gates: checks that a finished record must pass before it is kept. ``screen.default_screen`` builds the usual order."""

if __name__ == "screening":  # imported from a checkout on sys.path: this would be a second copy of the package
    raise ImportError("import it as piiloom.screening")
