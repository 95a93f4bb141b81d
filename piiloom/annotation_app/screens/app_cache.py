"""What all tabs of the process share: figures, background work that page views trigger, and libraries loaded beforehand.

A figure is computed again when its input has changed. One thread at a time imports the libraries for tables and charts, which takes
seconds. Two threads that import parts of one library at once can deadlock on import locks, after which the import fails for good. So call
``ready`` before drawing a chart.
"""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from piiloom.annotation_app.adjudication.resolving import SettledRecords
from piiloom.annotation_app.figures.spans import FinishedRecord
from piiloom.annotation_app.serving.services import Services
from piiloom.foundation.errors import PiiloomError

CHARTS: Final = ("pandas", "altair")
# Delay in seconds, so that the page that was just opened is served first.
_AFTER_S: Final = 5.0
_loading = threading.Lock()
_loaded: set[str] = set()
_beside: list[threading.Timer] = []


def ready(*names: str) -> None:
    """Import the libraries *names* if that has not been done."""
    if _loaded.issuperset(names):
        return
    with _loading:
        for name in names:
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
    ready(*CHARTS)


def _beside_the_pages(and_then: Callable[[], None]) -> None:
    load_all()
    and_then()


_Made = TypeVar("_Made")
_EVERY_S: Final = 60.0
# Seconds to wait for the end: mostly there is little to settle, and then the page shows it at once.
_WAIT_S: Final = 0.4


class PeriodicSettling:
    """Runs *settle* in a background thread, one at a time and at most once in *every_s* seconds. ``fault`` is its last error."""

    def __init__(self, settle: Callable[[], SettledRecords], every_s: float = _EVERY_S) -> None:
        self._settle = settle
        self._every_s = every_s
        self._lock = threading.Lock()
        self._began: float | None = None
        self._worker: threading.Thread | None = None
        self.fault: PiiloomError | None = None

    def run_if_due(self) -> None:
        """Start *settle* if it is due, and wait a moment for its end."""
        with self._lock:
            busy = self._worker is not None and self._worker.is_alive()
            if not busy and (self._began is None or time.monotonic() - self._began >= self._every_s):
                self._began = time.monotonic()
                self._worker = threading.Thread(target=self._run, name="settling")
                self._worker.start()
            worker = self._worker
        if worker is not None:
            worker.join(_WAIT_S)

    def _run(self) -> None:
        try:
            self._settle()
        except PiiloomError as error:
            self.fault = error
        else:
            self.fault = None


@dataclass(frozen=True, slots=True)
class _CachedFigures:
    finished_records: Sequence[FinishedRecord]
    value: Any


@dataclass(slots=True)
class AppCache:
    """What the pages over one store share: cached figures and background settling."""

    services: Services
    settling: PeriodicSettling
    kept: dict[str, _CachedFigures] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def figures(self, name: str, finished_records: Sequence[FinishedRecord], make: Callable[[], _Made]) -> _Made:
        """Return the figures *name*: from the cache if *finished_records* have not changed since, else from *make()*."""
        with self.lock:  # two tabs that open at once compute the figures only once
            found = self.kept.get(name)
            if found is None or not _same(found.finished_records, finished_records):
                found = self.kept[name] = _CachedFigures(finished_records, make())
        value: _Made = found.value
        return value


_caches: list[AppCache] = []


def app_cache(services: Services) -> AppCache:
    """Return the ``AppCache`` of *services*. A new one is made when the process has opened another store."""
    if not _caches or _caches[0].services is not services:
        _caches[:] = [AppCache(services, PeriodicSettling(services.resolver.settle_due))]
    return _caches[0]


def finished_records_of(services: Services) -> list[FinishedRecord]:
    """Return the finished records, from which all figures but the progress are computed."""
    with services.shared.reading() as store:
        return services.finished_records.load(store)


def _same(one: Sequence[FinishedRecord], other: Sequence[FinishedRecord]) -> bool:
    """Return whether nothing changed: a record that did not change is the same object."""
    return len(one) == len(other) and all(left is right for left, right in zip(one, other, strict=True))
