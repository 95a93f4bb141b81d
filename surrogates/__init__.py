"""HIPS, "hidden in plain sight": put realistic surrogates where a corpus was redacted."""

if __name__ == "surrogates":  # from a checkout on sys.path: this would be a second copy of the package
    raise ImportError("import it as piiloom.surrogates")
