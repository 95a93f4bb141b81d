"""From records to a release: sizes, groups, splits, the frozen members and the exported files."""
