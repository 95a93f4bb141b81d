"""Figures on the work: agreement of people, changes, decisions on suggestions, progress, and an estimate of the errors left."""
