"""How fast a run goes and when it will be done, as one line of text."""

from __future__ import annotations

from dataclasses import dataclass

from generation.progress import RunProgress


@dataclass(slots=True, kw_only=True)
class Pace:
    """Rate and remaining time since ``started`` (seconds of any steady clock); ``first`` results were there before."""

    started: float
    first: int | None = None

    def describe(self, progress: RunProgress, now: float) -> str:
        """Put done/total, rate, ETA, rejects and cost into one line; before the first item, what is being prepared."""
        if progress.preparing:
            return f"preparing: {progress.preparing} · {cost_text(progress)}"
        if self.first is None:
            # The watch is called after a result: one accepted result may be this sitting's own, which is near enough.
            self.first = max(0, progress.accepted - 1)
        rate = (progress.accepted - self.first) / max(now - self.started, 1e-6)
        left = max(0, progress.wanted - progress.accepted)
        eta = duration(left / rate) if rate > 0 else "unknown"
        parts = [
            f"{progress.accepted:,}/{progress.wanted:,}",
            rate_text(rate),
            f"ETA {eta}",
            f"{progress.rejected:,} rejected",
            cost_text(progress),
        ]
        return " · ".join(parts)


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
    cents = f"${totals.cost_usd:.2f}" if totals.cost_usd >= 1 or not totals.cost_usd else f"${totals.cost_usd:.4f}"
    return f"{cents} + {totals.unpriced:,} calls of unknown price" if totals.unpriced else cents
