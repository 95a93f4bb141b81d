"""Names by country and gender: an index that opens in milliseconds, the code that builds it, and pools to draw names from."""
