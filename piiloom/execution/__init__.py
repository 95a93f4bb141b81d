"""Makes calls to providers and stores their outcomes. Subpackages: limits, money, batches, watching (events)."""
