"""A share of a number of things, with the range that it may well have in truth."""

from __future__ import annotations

from dataclasses import dataclass

from annotation_app.onboarding.intervals import wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """``part`` of ``whole``; ``value`` None where there is nothing. ``low`` and ``high`` are Wilson's 95% interval."""

    part: int
    whole: int
    value: float | None
    low: float
    high: float

    @classmethod
    def of(cls, part: int, whole: int) -> Share:
        """The share that *part* is of *whole*."""
        low, high = wilson(part, whole)
        return cls(part=part, whole=whole, value=part / whole if whole else None, low=low, high=high)
