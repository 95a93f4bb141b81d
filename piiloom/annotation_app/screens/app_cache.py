"""What all tabs of the process share: a cache of expensive figures, and background work that page views trigger now and then.

A figure is computed again when its input has changed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from piiloom.annotation_app.adjudication.resolving import Settled
from piiloom.annotation_app.agreement.finished_records import FinishedRecord
from piiloom.annotation_app.serving.services import Services
from piiloom.foundation.errors import PiiloomError

_Made = TypeVar("_Made")
_EVERY_S: Final = 60.0
# Seconds to wait for the end: mostly there is little to settle, and then the page shows it at once.
_WAIT_S: Final = 0.4


class PeriodicSettling:
    """Runs *settle* in a background thread, one at a time and at most once in *every_s* seconds. ``fault`` is its last error."""

    def __init__(self, settle: Callable[[], Settled], every_s: float = _EVERY_S) -> None:
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
class _Kept:
    finished_records: Sequence[FinishedRecord]
    value: Any


@dataclass(slots=True)
class AppCache:
    """What the pages over one store share: cached figures and background settling."""

    services: Services
    settling: PeriodicSettling
    kept: dict[str, _Kept] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def figures(self, name: str, finished_records: Sequence[FinishedRecord], make: Callable[[], _Made]) -> _Made:
        """Return the figures *name*: from the cache if *finished_records* have not changed since, else from *make()*."""
        with self.lock:  # two tabs that open at once compute the figures only once
            found = self.kept.get(name)
            if found is None or not _same(found.finished_records, finished_records):
                found = self.kept[name] = _Kept(finished_records, make())
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
