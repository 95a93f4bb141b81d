"""Tell refusals caused by too many calls in flight from those that have another cause.

An overloaded server refuses a smaller share of calls when fewer are sent. A busy gateway or a shared account may refuse a tenth
whatever is sent, and a limit that falls with every refusal would drop to nothing there. So the share is measured before the limit
has fallen far and after. If it is much the same, the limit is restored and that share is tolerated for some time. (TCP undoes
spurious cuts likewise: RFC 9438, section 4.9.)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

_FALLEN_FAR = 0.6
# Calls, started after the fall, on which the judgment rests.
_ENOUGH_CALLS = 48
# The share counts as unchanged if it is at least this part of the one before the fall; chance alone rarely makes it less.
_UNCHANGED = 0.4
_LARGEST_SHARE = 0.5
_TOLERATED_S = 120.0
_QUIET_S = 10.0
_RECENT_CALLS = 64


@dataclass(slots=True)
class _Share:
    refused: int = 0
    ended: int = 0

    def add(self, *, refused: bool) -> None:
        self.refused += refused
        self.ended += 1

    @property
    def value(self) -> float:
        return self.refused / max(1, self.ended)


@dataclass(slots=True)
class _Fall:
    """Refusals that follow one another: the limit before the first (``top``) and the shares of refused calls before and after the fall.

    ``fallen_at`` is the number of calls started when the limit had fallen far (None: it has not yet). Only when the ``pending`` calls,
    which were in flight then, have ended does the server see fewer calls; those started after that (``lower_from``) count as after.
    """

    top: float
    last_at: float
    fallen_at: int | None = None
    pending: int = 0
    lower_from: int | None = None
    before: _Share = field(default_factory=_Share)
    after: _Share = field(default_factory=_Share)


class UnrelatedRefusals:
    """Decides which refusals should not lower the limit. Calls are numbered in the order of their starts."""

    def __init__(self) -> None:
        self._fall: _Fall | None = None
        self._recent_share = 0.0
        self._tolerated_share, self._tolerated_until = 0.0, -inf

    def tolerates(self, now: float) -> bool:
        """Whether refusals at the recent share are known to be unrelated to the number of calls in flight."""
        return now < self._tolerated_until and self._recent_share <= self._tolerated_share

    def cut(self, before: float, after: float, now: float, *, started: int, in_flight: int) -> None:
        """Note that a refusal has lowered the limit from *before* to *after*, when *started* calls had started in all."""
        if self._fall is None or now - self._fall.last_at > _QUIET_S:
            self._fall = _Fall(before, now)
        fall = self._fall
        fall.last_at = now
        if fall.fallen_at is None and after <= _FALLEN_FAR * fall.top:
            fall.fallen_at, fall.pending = started, in_flight
            fall.lower_from = None if in_flight else started

    def ended(self, number: int, *, refused: bool | None, started: int) -> None:
        """Count the end of call *number*, refused or answered (None: neither), when *started* calls had started in all."""
        if refused is not None:
            self._recent_share += (refused - self._recent_share) / _RECENT_CALLS
        fall = self._fall
        if fall is None:
            return
        if refused is not None:
            lower = fall.lower_from is not None and number > fall.lower_from
            (fall.after if lower else fall.before).add(refused=refused)
        if fall.fallen_at is not None and number <= fall.fallen_at:
            fall.pending -= 1
            if not fall.pending:
                fall.lower_from = started

    def restored(self, now: float) -> float | None:
        """Return the limit to go back to if the refusals since the fall were unrelated to it, else None."""
        fall = self._fall
        if fall is None or fall.after.ended < _ENOUGH_CALLS:
            return None
        self._fall = None
        share = fall.after.value
        if not _UNCHANGED * fall.before.value <= share <= _LARGEST_SHARE:
            return None
        self._tolerated_share = max(2 * share, self._recent_share) + 0.02
        self._tolerated_until = now + _TOLERATED_S
        return fall.top
