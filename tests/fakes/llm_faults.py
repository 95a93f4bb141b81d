"""What can go wrong at the fake LLM server, and schedules that say when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from piiloom.foundation.seeding import derive_rng

FaultKind = Literal[
    "rate_limit",
    "quota",
    "server_error",
    "overloaded",
    "timeout",
    "cut",
    "bad_json_body",
    "bad_json_reply",
    "fenced",
    "refusal",
    "truncation",
]
FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
# With these the model has answered and the reply arrives; they are what a caller pays for and gets to see.
DELIVERED = frozenset({"ok", "fenced", "bad_json_reply", "refusal", "truncation"})
# With these the model has answered too, but the caller cannot know.
LOST = frozenset({"timeout", "cut", "bad_json_body"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing going wrong. ``seconds`` is how long ``timeout`` keeps silent; ``retry_after`` goes with ``rate_limit``."""

    kind: FaultKind
    seconds: float = 5.0
    retry_after: float = 0.01


Schedule = Callable[[int], Fault | None]


def seeded_faults(seed: int, rates: Mapping[str, float], *, timeout_s: float = 5.0, retry_after: float = 0.01) -> Schedule:
    """A schedule that gives each fault kind its share of requests (*rates*, together at most 1), equal for equal seeds."""
    unknown = set(rates) - set(FAULT_KINDS)
    if unknown or sum(rates.values()) > 1:
        raise ValueError(f"unknown faults {sorted(unknown)} or shares above 1")

    def schedule(ordinal: int) -> Fault | None:
        point = derive_rng("fault", seed, ordinal).random()
        for kind in FAULT_KINDS:
            share = rates.get(kind, 0.0)
            if point < share:
                return Fault(kind=kind, seconds=timeout_s, retry_after=retry_after)
            point -= share
        return None

    return schedule
