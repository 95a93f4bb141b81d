"""Calls through a provider's batch API: waves, packing, ledger, collecting."""
