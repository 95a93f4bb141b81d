"""How calls are made and their outcomes kept: one seam, journal and retries here; limits, money, batches, watching beside."""
