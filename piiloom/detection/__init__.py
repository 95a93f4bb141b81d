"""Detectors: the patterns of the entity catalogue, models beside them, and what is made of their findings.

``detector`` is the protocol they share; ``catalogue_trial`` tries the catalogue's entries on values drawn for them.
"""
