"""One run in several processes, with Ray: shares of the plan, and the one account of all of them."""
