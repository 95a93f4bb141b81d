"""Estimate and find leaks: originals that stayed in the texts, and how well a reader could tell them from surrogates."""
