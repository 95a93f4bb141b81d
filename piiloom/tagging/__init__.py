"""The small detector that is always there: a CRF that finds spans and a regression that judges their relevance.

``training`` makes both from examples, ``calibrating`` learns what their scores mean, ``model_folder`` keeps them, and ``model`` is what a
text is given to. ``piiloom probe`` measures data sets by it, and its protocol is fixed: nothing here may change what it learns.
"""
