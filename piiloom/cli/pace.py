"""How fast a run goes and when it will be done, as one line of text."""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.foundation.words import counted
from piiloom.generation.running.progress import RunProgress


@dataclass(slots=True, kw_only=True)
class Pace:
    """Rate and remaining time since ``started`` (seconds of any steady clock); ``first`` results were there before."""

    started: float
    first: int | None = None

    def reckon(self, progress: RunProgress, now: float) -> tuple[float, float | None]:
        """Give accepted records per second of this session, and the seconds that are left at that rate (None: unknown)."""
        if self.first is None:
            # The watch is called after a result: one accepted result may be this session's own, which is near enough.
            self.first = max(0, progress.accepted - 1)
        rate = (progress.accepted - self.first) / max(now - self.started, 1e-6)
        left = max(0, progress.missing())
        return rate, left / rate if rate > 0 else None

    def describe(self, progress: RunProgress, now: float, cost: str | None = None) -> str:
        """Put done/total, rate, ETA, rejects and cost into one line; before the first item, what is being prepared.

        *cost* is how the cost is to be written, empty to leave it out.
        """
        costs = [cost_text(progress) if cost is None else cost] if cost != "" else []
        if progress.preparing:
            if self.first is None:
                self.started = now  # what prepares the first item tells nothing about those that follow
            return " · ".join([f"preparing: {progress.preparing}", *costs])
        rate, left = self.reckon(progress, now)
        parts = [
            f"{progress.accepted:,}/{max(progress.wanted, progress.accepted):,}",
            rate_text(rate),
            f"ETA {duration(left) if left is not None else 'unknown'}",
            f"{progress.rejected:,} rejected",
            *costs,
        ]
        return " · ".join(parts)


def accepted_text(accepted: int, wanted: int) -> str:
    """Write how many records are accepted. There are more than wanted where rejected items were tried again."""
    if accepted > wanted:
        return f"{counted(accepted, 'record')} accepted ({accepted - wanted:,} more than wanted)"
    return f"{accepted:,} of {counted(wanted, 'record')} accepted"


def rate_text(per_second: float) -> str:
    """Write a rate in the unit that reads best: ``210/s``, ``4.2/s``, ``12/min``."""
    if per_second >= 10:
        return f"{per_second:,.0f}/s"
    if per_second >= 1:
        return f"{per_second:.1f}/s"
    return f"{per_second * 60:.3g}/min"


def duration(seconds: float) -> str:
    """Write seconds as ``0:07``, ``12:30`` or ``3:05:00``."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def cost_text(progress: RunProgress) -> str:
    """Write what the calls have cost so far; calls of unknown price are said, not counted as free."""
    totals = progress.totals
    cost = dollars(totals.cost_usd)
    return f"{cost} + {counted(totals.unpriced, 'call')} of unknown price" if totals.unpriced else cost


def dollars(amount: float) -> str:
    """Write an amount of money: cents where it is a dollar or more (or nothing), as many digits as tell it apart below."""
    if amount >= 1 or not amount:
        return f"${amount:,.2f}"
    return f"${amount:.4f}" if amount >= 0.001 else f"${amount:.6f}"


def seconds_text(seconds: float | None) -> str:
    """Write a latency: ``85 ms``, ``1.24 s``, ``45 s``, ``12:30``; a dash where there is none."""
    if seconds is None:
        return "–"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 100:
        return f"{seconds:.3g} s"
    return duration(seconds)


def count_text(number: int) -> str:
    """Write a count in few letters: ``9,800``, ``12.3k``, ``4.56M``."""
    if number < 10_000:
        return f"{number:,}"
    return f"{number / 1000:.3g}k" if number < 999_500 else f"{number / 1e6:.3g}M"
