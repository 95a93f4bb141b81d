"""The Streamlit pages: thin, one per file. What they show and do is computed in the plain modules of the other packages.

This folder is not called ``pages``: beside ``app.py``, Streamlit would take each file in it for a page of its own.
"""
