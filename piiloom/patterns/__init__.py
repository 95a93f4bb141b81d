"""The pattern engine: all entities of a locale in the catalogue, found in one pass over a text.

``engine`` is where to begin. It folds a text and gets the places of possible matches from a prefilter (``prefilters``). There it matches
(``writing`` gives the expressions), validates, and scores by the words around.
"""
