"""Who works here: accounts with passwords and roles, logins and what slows down guessing. Knows nothing of pages and requests."""
