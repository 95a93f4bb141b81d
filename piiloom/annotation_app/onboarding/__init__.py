"""Training and quality control of annotators: guidelines, practice, a qualifying test, hidden control records, error estimates."""
