"""HIPS, "hidden in plain sight": realistic surrogates where a corpus was redacted."""
