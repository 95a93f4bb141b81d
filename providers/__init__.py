"""The LLM seam: one protocol, and one file for each API that implements it."""
