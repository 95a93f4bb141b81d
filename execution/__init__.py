"""How calls are made and their outcomes kept: ordered concurrency, group commits, the call ledger."""
