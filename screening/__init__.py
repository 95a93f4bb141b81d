"""Gates over finished records: what a record must be before it is kept. ``screen.default_screen`` puts them in order."""
