"""Measures of data sets: ``report`` says how diverse a corpus is and what it leaks, ``probe`` what a detector learns from it."""
