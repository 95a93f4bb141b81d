"""The stages that turn pairs of PII types into records (one module each), and the pipeline that runs them in order."""

if __name__ == "generation":
    import sys

    import piiloom.generation

    # In a checkout, ``python -m generation.topics`` runs a stage. Any other import under this name would load every module twice.
    if not any(word.startswith("generation.") for word in sys.orig_argv):
        raise ImportError("import it as piiloom.generation")
    sys.modules[__name__] = piiloom.generation
