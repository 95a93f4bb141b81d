"""Training detectors: the records to train on, and what a trained folder says of itself.

The trainers are beside this package (``detection.encoder``) or inside (what needs no detector of its own).
"""
