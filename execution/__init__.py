"""Makes calls to providers and stores their outcomes. Subpackages: limits, money, batches, watching (events)."""

if __name__ == "execution":  # with a checkout on sys.path, this would be a second copy of the package
    raise ImportError("import it as piiloom.execution")
