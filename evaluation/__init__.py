"""Measures of data sets: ``report`` says how diverse a corpus is and what it leaks, ``probe`` what a detector learns from it."""

if __name__ == "evaluation":  # with a checkout on the path, this would load every module twice
    raise ImportError("import it as piiloom.evaluation")
