"""What a run tells of itself: events, metrics, OpenTelemetry spans."""
