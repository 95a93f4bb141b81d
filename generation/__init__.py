"""The stages that turn pairs of PII types into records, one file each, and the pipeline that is their ordered tuple."""
