"""People: accounts, passwords, roles, login sessions and login throttling. Knows nothing of pages and requests."""
