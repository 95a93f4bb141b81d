"""One run in several processes, with Ray: the driver, its workers, and the one account of all of them."""
