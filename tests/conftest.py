"""For all tests: property tests take the same examples each time, unless PIILOOM_EXPLORE is set: then they look for new ones.

What collecting the tests made is put aside from the garbage collector: it lives as long as the process, and each full collection
would go through 700,000 objects for nothing.
"""

from __future__ import annotations

import gc
import os

from hypothesis import settings

settings.register_profile("steady", derandomize=True)
if not os.environ.get("PIILOOM_EXPLORE"):
    settings.load_profile("steady")


def pytest_collection_finish() -> None:
    """Called by pytest when it knows all tests, in each of its processes."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Give it back: what C extensions still hold when Python ends they call a leak."""
    gc.unfreeze()
