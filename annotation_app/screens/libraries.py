"""The libraries behind tables and figures: they take seconds to load, which nobody should have to wait for.

One thread at a time loads them. Two that load parts of one library at the same moment can get into each other's way: narwhals,
which altair and scikit-learn share, then fails for good with a deadlock of import locks. So who draws a chart asks here first.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

CHARTS: Final = ("pandas", "altair")
AGREEMENT: Final = ("krippendorff", "sklearn.metrics")
# Whoever has just opened a page is to have it first.
_AFTER_S: Final = 5.0
_loading = threading.Lock()
_loaded: set[str] = set()
_beside: list[threading.Timer] = []


def ready(*names: str) -> None:
    """Have the libraries *names* loaded; one that is not installed is left out."""
    if _loaded.issuperset(names):
        return
    with _loading:
        for name in names:
            with suppress(ImportError):
                importlib.import_module(name)
            _loaded.add(name)


def load_beside(and_then: Callable[[], None], after_s: float = _AFTER_S) -> None:
    """Load them all in a thread of their own, *after_s* from now and once in the life of the process; then do what comes next."""
    with _loading:
        if _beside:
            return
        timer = threading.Timer(after_s, _beside_the_pages, [and_then])
        timer.daemon = True
        _beside.append(timer)
    timer.start()


def load_all() -> None:
    """Load them all, here and now."""
    for name in (*CHARTS, *AGREEMENT):
        ready(name)


def _beside_the_pages(and_then: Callable[[], None]) -> None:
    load_all()
    and_then()
