"""Helpers used by all other packages: errors, seeding, words, YAML files, Ctrl-C. Imports nothing else of piiloom."""
