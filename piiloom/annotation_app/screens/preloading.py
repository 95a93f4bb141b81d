"""Preloading of the libraries for tables and figures: importing them takes seconds.

One thread at a time imports them. Two threads that import parts of one library at once can deadlock on import locks: narwhals, which altair
and scikit-learn share, then fails for good. So call ``ready`` before drawing a chart.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

CHARTS: Final = ("pandas", "altair")
AGREEMENT: Final = ("krippendorff", "sklearn.metrics")
# Delay in seconds, so that the page that was just opened is served first.
_AFTER_S: Final = 5.0
_loading = threading.Lock()
_loaded: set[str] = set()
_beside: list[threading.Timer] = []


def ready(*names: str) -> None:
    """Import the libraries *names* if that has not been done. A library that is not installed is skipped."""
    if _loaded.issuperset(names):
        return
    with _loading:
        for name in names:
            with suppress(ImportError):
                importlib.import_module(name)
            _loaded.add(name)


def load_beside(and_then: Callable[[], None], after_s: float = _AFTER_S) -> None:
    """Import all libraries in a background thread, *after_s* seconds from now, then call *and_then*.

    Only the first call in the life of the process has an effect.
    """
    with _loading:
        if _beside:
            return
        timer = threading.Timer(after_s, _beside_the_pages, [and_then])
        timer.daemon = True
        _beside.append(timer)
    timer.start()


def load_all() -> None:
    """Import all libraries in this thread."""
    for name in (*CHARTS, *AGREEMENT):
        ready(name)


def _beside_the_pages(and_then: Callable[[], None]) -> None:
    load_all()
    and_then()
