"""What every room stands on: errors, seeding, words, YAML and JSON files. Imports nothing of piiloom."""
