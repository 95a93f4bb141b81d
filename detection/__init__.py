"""Detectors: the patterns of the entity catalogue, models beside them, and what is made of their findings.

``detector`` is the protocol they share; ``catalogue_trial`` tries the catalogue's entries on values drawn for them.
"""

if __name__ == "detection":  # from a checkout on sys.path: this would be a second copy of the package
    raise ImportError("import it as piiloom.detection")
