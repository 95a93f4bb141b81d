"""Calls through a provider's batch API: gathering (rounds), packing, submitting, collecting, and recording."""
