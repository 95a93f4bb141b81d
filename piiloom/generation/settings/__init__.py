"""The settings of a run: what may be set, what is checked, and how a run is told from another by them."""
