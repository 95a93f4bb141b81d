"""Patterns beside a reader (a language model, or rules that stand in for one), in three phases.

Phase I finds, phase II settles what may be several things, phase III drops what lies within something else and has short numbers
confirmed.
"""
