"""A language model lists the personal values of a text, and says of each whether it matters to the question: the detector "capid"."""
