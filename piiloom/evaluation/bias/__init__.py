"""Bias: whether names are found equally well, whoever bears them."""
