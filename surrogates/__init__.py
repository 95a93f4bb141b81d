"""HIPS, "hidden in plain sight": realistic surrogates where a corpus was redacted."""

if __name__ == "surrogates":  # with a checkout on the path, a second copy of everything in here
    raise ImportError("import it as piiloom.surrogates")
