"""Persona assignment: give each person mentioned in a text a gender, a region and a name, balanced over the corpus."""
