"""Measures of datasets: what a corpus looks like and gives away (``report_*``), and what a detector learns from it (``probe_*``)."""

if __name__ == "evaluation":  # with a checkout on the path, a second copy of everything in here
    raise ImportError("import it as piiloom.evaluation")
