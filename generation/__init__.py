"""The stages that turn pairs of PII types into records, one file each, and the pipeline that is their ordered tuple."""

if __name__ == "generation":
    import sys

    import piiloom.generation

    # In a checkout, ``python -m generation.topics`` runs a stage; whoever imports this would get a second copy of everything in here.
    if not any(word.startswith("generation.") for word in sys.orig_argv):
        raise ImportError("import it as piiloom.generation")
    sys.modules[__name__] = piiloom.generation
