"""Tell refusals caused by too many calls in flight from those that come anyway ("strays").

An overloaded server refuses fewer calls when fewer are sent. A busy gateway or a shared account may refuse a tenth whatever is
sent, and a limit that falls with every refusal would drop to nothing there. So the share of refusals is measured over each
round trip that had some. If the limit has fallen far and the share has not, the refusals are strays: the limit is restored, and
that share is tolerated for some time. (TCP undoes spurious cuts likewise: RFC 9438, section 4.9.)
"""

from __future__ import annotations

from dataclasses import dataclass

_FALLEN_FAR = 0.6
# The share counts as unchanged if it is at least this part of the highest one seen.
_STILL = 0.5
_ENOUGH_CALLS = 16
_LARGEST_STRAY_SHARE = 0.5
_TOLERATED_S = 120.0
_QUIET_S = 10.0
_RECENT_CALLS = 64
_FADING = 0.7


@dataclass(slots=True)
class _Series:
    """Consecutive rounds with refusals: the limit before the first one (``top``), when the last one ended, and their refusals.

    ``refused`` and ``ended`` are sums that decay, so they reflect the last few generations; ``worst`` is the highest share so far.
    """

    top: float
    last_at: float
    refused: float = 0.0
    ended: float = 0.0
    worst: float = 0.0

    def add(self, refused: int, ended: int) -> float:
        """Add the calls of a generation and return the present share of refusals."""
        self.refused = self.refused * _FADING + refused
        self.ended = self.ended * _FADING + ended
        share = self.refused / max(1.0, self.ended)
        if self.ended >= _ENOUGH_CALLS:
            self.worst = max(self.worst, share)
        return share


class StrayRefusals:
    """Decides which refusals should not lower the limit.

    Calls are counted by the generation of the limit in which they started. While a server accepts nothing new, the end of calls that
    it accepted before must not count as acceptance.
    """

    def __init__(self) -> None:
        # [refused, ended] calls: started in this generation, in the last one, and in either but ended since this one began.
        self._now, self._before, self._lately = [0, 0], [0, 0], [0, 0]
        self._series: _Series | None = None
        self._recent_share = 0.0
        self._tolerated_share, self._tolerated_until = 0.0, float("-inf")

    def note(self, *, refused: bool, generations_ago: int) -> None:
        """Count a call that ended; *generations_ago* is how many generations before the present one it started."""
        self._recent_share += (refused - self._recent_share) / _RECENT_CALLS
        counted = (self._now, self._lately) if generations_ago == 0 else (self._before, self._lately) if generations_ago == 1 else ()
        for counts in counted:
            counts[0] += refused
            counts[1] += 1

    def begin_generation(self) -> None:
        """Start a new generation, since the limit changed."""
        self._now, self._before, self._lately = [0, 0], self._now, [0, 0]

    def tolerates(self, now: float) -> bool:
        """Whether refusals at the recent share are known to be strays."""
        return now < self._tolerated_until and self._recent_share <= self._tolerated_share

    def judge(self, limit: float, now: float) -> float | None:
        """Judge a round that ended and had begun at *limit*; return the limit to restore if its refusals were strays, else None."""
        series = self._series
        if series is None or now - series.last_at > _QUIET_S:
            # Calls that ended before the first refusal say nothing about the present share.
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
