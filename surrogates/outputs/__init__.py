"""What a run leaves behind: records, the mirror of the input, the offset map, the report, and a vault where one is asked for."""
