"""How many calls go out, and how fast: rates, refusals, adaptive concurrency."""
