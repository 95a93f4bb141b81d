"""Calls through a provider's batch API: gathering (waves), packing, submitting, collecting, and recording."""
