"""Versioned prompt templates, one a stage, and what renders them."""

if __name__ == "prompts":  # with a checkout on the path, a second copy of everything in here
    raise ImportError("import it as piiloom.prompts")
