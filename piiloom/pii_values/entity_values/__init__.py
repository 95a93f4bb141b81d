"""Values of the entries of the entity catalogue, for benchmarks and for testing the catalogue itself."""
