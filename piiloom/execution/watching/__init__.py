"""Observing a run: events, metrics, OpenTelemetry spans."""
