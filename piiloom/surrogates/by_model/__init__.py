"""Ask a language model for values that are free text (organizations, occupations, ...). Each request contains one sentence only."""
