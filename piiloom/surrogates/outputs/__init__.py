"""The output of a run: records, the mirror of the input, the offset map, the report, and on request a vault."""
