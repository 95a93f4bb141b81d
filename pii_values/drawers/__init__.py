"""For every subtype, how one value of a persona is drawn: one module a type, each with its ``KINDS``."""
