"""Our entity catalogue beside python-stdnum, presidio-analyzer and Faker; ``benchmarks.catalogue_coverage`` is the command."""
