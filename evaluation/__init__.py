"""Measures of datasets: what a corpus looks like and gives away (``report_*``), and what a detector learns from it (``probe_*``)."""
