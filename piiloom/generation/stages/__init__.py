"""The stages, one file each, what several of them share, and the pipeline that is their ordered tuple."""
