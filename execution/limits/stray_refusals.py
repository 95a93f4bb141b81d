"""Telling refusals that come of too many calls in flight from those that come anyway.

A server that can't take so many refuses fewer when fewer are sent. One that refuses a tenth whatever is sent (a busy
gateway, a shared account) would drive a limit that falls with every refusal down to nothing. So the share of refusals is
measured over each round trip that had some; when the limit has fallen far and the share has not, the refusals are
strays: the limit is restored and that share tolerated for some time. (TCP undoes cuts that prove spurious likewise:
RFC 9438, section 4.9.)
"""

from __future__ import annotations

from dataclasses import dataclass

_FALLEN_FAR = 0.6
# The share has not fallen when it is at least this part of the highest that was seen.
_STILL = 0.5
_ENOUGH_CALLS = 16
_LARGEST_STRAY_SHARE = 0.5
_TOLERATED_S = 120.0
_QUIET_S = 10.0
_RECENT_CALLS = 64
_FADING = 0.7


@dataclass(slots=True)
class _Series:
    """Rounds that followed each other: the limit before the first, when the last ended, and the share of refusals.

    ``refused`` and ``ended`` fade, so that they tell of the last few generations; ``worst`` is the highest share so far.
    """

    top: float
    last_at: float
    refused: float = 0.0
    ended: float = 0.0
    worst: float = 0.0

    def add(self, refused: int, ended: int) -> float:
        """Count a generation of calls; gives the share of refusals now."""
        self.refused = self.refused * _FADING + refused
        self.ended = self.ended * _FADING + ended
        share = self.refused / max(1.0, self.ended)
        if self.ended >= _ENOUGH_CALLS:
            self.worst = max(self.worst, share)
        return share


class StrayRefusals:
    """Says which refusals the limit need not fall for.

    Calls are counted by the generation of the limit in which they started: while a server takes nothing new, what it
    took before must not count as a sign that it takes some.
    """

    def __init__(self) -> None:
        # Refused and ended: of the calls that started in this generation and in the last, and of all since this one began.
        self._now, self._before, self._lately = [0, 0], [0, 0], [0, 0]
        self._series: _Series | None = None
        self._recent_share = 0.0
        self._tolerated_share, self._tolerated_until = 0.0, float("-inf")

    def note(self, *, refused: bool, generations_ago: int) -> None:
        """A call ended that started in this generation, the one before, or earlier."""
        self._recent_share += (refused - self._recent_share) / _RECENT_CALLS
        counted = (self._now, self._lately) if generations_ago == 0 else (self._before, self._lately) if generations_ago == 1 else ()
        for counts in counted:
            counts[0] += refused
            counts[1] += 1

    def begin_generation(self) -> None:
        """The limit changed."""
        self._now, self._before, self._lately = [0, 0], self._now, [0, 0]

    def tolerates(self, now: float) -> bool:
        """Whether refusals at the present share are known to be strays."""
        return now < self._tolerated_until and self._recent_share <= self._tolerated_share

    def judge(self, limit: float, now: float) -> float | None:
        """A round ended that began at *limit*; gives the limit to restore when its refusals were strays."""
        series = self._series
        if series is None or now - series.last_at > _QUIET_S:
            # What came before the first refusal tells nothing about how many there are now.
            self._series = _Series(limit, now)
            self._series.add(*self._lately)
            return None
        series.last_at = now
        share = series.add(*self._before)
        if limit > _FALLEN_FAR * series.top or not _STILL * series.worst <= share <= _LARGEST_STRAY_SHARE:
            return None
        self._series = None
        self._tolerated_share = max(2 * share, self._recent_share) + 0.02
        self._tolerated_until = now + _TOLERATED_S
        return series.top
