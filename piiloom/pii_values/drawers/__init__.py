"""Functions that draw one value of a persona for each subtype: one module per entity type, each with its ``KINDS``."""
