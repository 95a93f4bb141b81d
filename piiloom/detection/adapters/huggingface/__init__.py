"""Token classifiers of transformers, from a local folder, as a detector."""
