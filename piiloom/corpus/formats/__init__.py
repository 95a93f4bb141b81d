"""Import and export formats, one module each; ``registry.get_format`` finds them by name."""
