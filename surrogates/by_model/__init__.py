"""Values of the wordy kinds asked of a language model: one sentence leaves for each value, and never anything around it."""
