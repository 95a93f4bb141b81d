"""HIPS, "hidden in plain sight": put realistic surrogates where a corpus was redacted."""
