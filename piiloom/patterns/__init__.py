"""The pattern engine: finds what the patterns of the entity catalogue describe, all of a locale in one pass over a text.

``engine`` is where to begin. It folds a text, asks a prefilter where a pattern may match (``prefilters``), matches there
(``writing`` gives the expressions), validates, and scores by the words around.
"""
