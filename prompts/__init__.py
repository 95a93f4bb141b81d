"""Versioned prompt templates, one per stage, and the code that renders them."""

if __name__ == "prompts":  # imported from a checkout on sys.path: this would be a second copy of the package
    raise ImportError("import it as piiloom.prompts")
