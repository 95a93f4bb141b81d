"""How calls are made and their outcomes kept: one seam, journal and retries here; limits, money, batches, watching beside."""

if __name__ == "execution":  # with a checkout on the path, a second copy of everything in here
    raise ImportError("import it as piiloom.execution")
