"""The variants of ``limits_ablation``: the rate limiter with one of its ideas switched off, or with none of them."""

# Parts of the limiter, private ones too, are replaced by functions with the same parameters, which need not use them, and by classes with
# the same methods, whose docstrings are those of the limiter.
# ruff: noqa: ARG001, ARG002, ARG005, D102, SLF001

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unittest.mock import patch

from piiloom.execution.limits import adaptive, limiter, rate_buckets
from piiloom.execution.limits.adaptive import AdaptiveLimit, Start, UnrelatedRefusals
from piiloom.execution.limits.limiter import Admission, AdmissionPolicy
from piiloom.execution.limits.rate_buckets import MinuteWindow, RateBucket, TokenRatios

# Makes a context manager within which an idea is switched off.
Switch = Callable[[], Any]


def replaced(owner: object, name: str, value: object) -> Switch:
    return lambda: patch.object(owner, name, value)


class Aimd:
    """The textbook in place of ``AdaptiveLimit``: half after a refusal, at most once per round trip; one more per round trip without."""

    def __init__(self, most: int) -> None:
        self.most, self.in_flight, self.refused_count, self.round_trip_s = most, 0, 0, 0.0
        self._value, self._started, self._started_at_cut = float(most), 0, 0

    def limit(self, now: float) -> int:
        return int(self._value)

    def opens_at(self, now: float) -> float:
        return now if self.in_flight < self.limit(now) else float("inf")

    def start(self, now: float) -> Start:
        self.in_flight += 1
        self._started += 1
        return Start(self._started, self.in_flight, self.refused_count)

    def failed(self, start: Start) -> None:
        self.in_flight -= 1

    def answered(self, start: Start, now: float, latency_s: float) -> None:
        self.in_flight -= 1
        self.round_trip_s += (latency_s - self.round_trip_s) * (0.05 if self.round_trip_s else 1.0)
        if start.level >= int(self._value):
            self._value = min(float(self.most), self._value + 1 / self._value)

    def refused(self, start: Start, now: float, wait_s: float) -> None:
        self.in_flight -= 1
        self.refused_count += 1
        if start.number > self._started_at_cut:
            self._started_at_cut = self._started
            self._value = max(1.0, self._value / 2)

    def refused_for_rate(self, start: Start) -> None:
        self.in_flight -= 1
        self.refused_count += 1


def _grow_by_one(self: AdaptiveLimit, now: float) -> None:
    if self._plateau is not None:
        self._value = min(float(self.most), self._value + 1 / self._value)


_cut = AdaptiveLimit._cut


def _half(self: AdaptiveLimit, start: Start, accepted: int, now: float, wait_s: float) -> None:
    if start.number > self._started_at_cut:
        _cut(self, start, max(1, int(self._value / 2)), now, wait_s)


_failed_as_is = AdmissionPolicy.failed


def _failed(self: AdmissionPolicy, who: Admission, now: float, *, timed_out: bool) -> None:
    _failed_as_is(self, who, now, timed_out=False)


RATIOS = replaced(TokenRatios, "corrected", lambda self, estimated, stage: max(1.0, estimated))
MARGIN = replaced(RateBucket, "_margin", lambda self, limit: 0.0)
WINDOW = replaced(MinuteWindow, "fits_at", lambda self, need, most, now: (self.expire(now), now)[1])
TIGHT = replaced(RateBucket, "is_tight", lambda self, now: False)
SPREAD = replaced(rate_buckets, "_LONGEST_SPREAD_S", 0.0)
BACKOFF = replaced(limiter, "_FIRST_BACKOFF_S", 0.0)
UNRELATED = replaced(UnrelatedRefusals, "restored", lambda self, now: None)
TIMED_OUT = replaced(AdmissionPolicy, "failed", _failed)
RAMP = replaced(adaptive, "_START", 10_000)
CUBIC = replaced(AdaptiveLimit, "_grow", _grow_by_one)
ACCEPTED = replaced(AdaptiveLimit, "_cut", _half)
AIMD = replaced(limiter, "AdaptiveLimit", Aimd)

VARIANTS: Mapping[str, Sequence[Switch]] = {
    "all": (),
    "no token ratios": (RATIOS,),
    "no margin for lengths": (MARGIN,),
    "no minute window": (WINDOW,),
    "no blaming of a tight rate": (TIGHT,),
    "no spreading after a pause": (SPREAD,),
    "no back-off of the limiter": (BACKOFF,),
    "no restoring after unrelated refusals": (UNRELATED,),
    "time-outs say nothing": (TIMED_OUT,),
    "no ramp-up": (RAMP,),
    "no cubic curve": (CUBIC,),
    "half instead of what was accepted": (ACCEPTED,),
    "AIMD for the concurrency": (AIMD,),
    "the basics": (RATIOS, MARGIN, WINDOW, TIGHT, SPREAD, BACKOFF, TIMED_OUT, AIMD),
}
