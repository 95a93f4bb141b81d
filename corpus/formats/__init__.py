"""One file a format, reading and writing; ``registry.get_format`` finds them by name."""
