"""Several systems on the same gold: ranks, differences, and tables of them."""
