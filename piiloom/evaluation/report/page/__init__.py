"""The page of a data set, ``index.html``: one file without network, for those who decide whether to use the set."""
