"""A cache of expensive figures for all tabs of the process. A figure is computed again when its input has changed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from piiloom.annotation_app.agreement.readings import Reading
from piiloom.annotation_app.screens.upkeep import Upkeep
from piiloom.annotation_app.serving.opening import Workplace

_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class _Kept:
    readings: Sequence[Reading]
    value: Any


@dataclass(slots=True)
class Office:
    """What the pages of one workplace share: cached figures and background upkeep."""

    workplace: Workplace
    upkeep: Upkeep
    kept: dict[str, _Kept] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def figures(self, name: str, readings: Sequence[Reading], make: Callable[[], _Made]) -> _Made:
        """Return the figures *name*: from the cache if *readings* have not changed since, else from *make()*."""
        with self.lock:  # two tabs that open at once compute the figures only once
            found = self.kept.get(name)
            if found is None or not _same(found.readings, readings):
                found = self.kept[name] = _Kept(readings, make())
        value: _Made = found.value
        return value


_offices: list[Office] = []


def office_of(workplace: Workplace) -> Office:
    """Return the ``Office`` of *workplace*. A new one is made when the process has another workplace."""
    if not _offices or _offices[0].workplace is not workplace:
        _offices[:] = [Office(workplace, Upkeep(workplace.resolver.settle_due))]
    return _offices[0]


def readings_of(workplace: Workplace) -> list[Reading]:
    """Return the readings, from which all figures but the progress are computed."""
    with workplace.shared.reading() as store:
        return workplace.readings.readings(store)


def _same(one: Sequence[Reading], other: Sequence[Reading]) -> bool:
    """Return whether nothing changed: a reading that did not change is the same object."""
    return len(one) == len(other) and all(left is right for left, right in zip(one, other, strict=True))
