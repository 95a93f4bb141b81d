"""A second stage behind any detector: a language model judges each span that was found, and what it refuses is set aside."""
