"""Which names people bear where: an index that opens in milliseconds, its builders, and pools to draw from."""
