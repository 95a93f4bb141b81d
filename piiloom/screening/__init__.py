"""Quality gates: checks that a finished record must pass before it is kept. ``screen.default_screen`` builds the usual order."""
