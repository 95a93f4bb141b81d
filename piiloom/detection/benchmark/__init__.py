"""The benchmark of detectors: documents of 13 locales and six domains with exact spans and look-alikes that are none.

``carriers`` reads the texts that values are put into, ``composing`` makes a document of one, ``perturbing`` spoils it as everyday life
does, ``making`` makes the whole set.
"""
