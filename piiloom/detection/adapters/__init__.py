"""Detectors that other people made, behind ``detect``: presidio-analyzer, token classifiers of transformers, GLiNER.

Their labels become our types by label maps, which are data: ``label_maps/*.yaml`` here over those of the taxonomy.
"""
