"""A detector that has a language model give the text back with markers, and brings the answer back to exact offsets."""
