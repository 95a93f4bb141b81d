"""The guides, what makes pages from the code (``making/``), and what makes a site of them (``conf.py``)."""
