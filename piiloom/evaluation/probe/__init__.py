"""``piiloom probe``: what a small detector learns from a data set, scored on others."""
