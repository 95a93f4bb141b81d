"""Estimate what a run will cost: the real stages render their prompts, and a stand-in for the model answers them."""
