"""What a run came to, as JSON or as a few lines with the next command."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from piiloom.cli.progress import shown
from piiloom.cli.terminal import dollars, duration_text, rate_text, say, say_aside, say_error, store_option
from piiloom.corpus.store.judgements import JudgedCount
from piiloom.foundation.words import counted
from piiloom.generation.running.progress import RunProgress, StoppedEarly

RowT = TypeVar("RowT")
_REASONS_SHOWN = 5


def shown_progress(label: str, *, wanted: bool) -> AbstractContextManager[Callable[[RunProgress], None]]:
    """Show the progress of the run or stage *label*; nothing unless *wanted*."""
    pace = Pace(started=time.monotonic())
    return shown(
        lambda one: pace.describe(one, time.monotonic()),
        wanted=wanted,
        label=label,
        share=lambda progress: (progress.accepted, progress.wanted or None),
    )


def say_summary(
    progress: RunProgress, store: Path, *, provider: str, seconds: float, drawn: str, flagged: JudgedCount | None = None
) -> None:
    """Print how the run stands after this session of *seconds*.

    *drawn*: the numbers of its stories, texts and questions. *flagged*: what a detector found outside of spans, if one screened.
    """
    found = None if flagged is None or not flagged.judged else flagged
    next_step = f"piiloom release --name NAME{store_option(store)}" if progress.status == "finished" else None
    facts = {
        "rejected": f"{progress.rejected:,}{_top(progress)}",
        "told": drawn,
        "flagged": found and f"{counted(found.judged, 'value')} outside of spans, in {counted(found.records, 'record')}",
        "cost": _cost(progress, provider),
        "store": store,
        "next": next_step,
    }
    lines = [f"  {name:<9} {fact}" for name, fact in facts.items() if fact is not None]
    say(
        "\n".join(
            [f"run {progress.run_id} {progress.status}: {accepted_text(progress.accepted, progress.wanted)} in {seconds:.1f} s", *lines]
        )
    )


def say_unfinished(progress: RunProgress, store: Path) -> None:
    """Say on standard error why a run has fewer records than wanted, and what to do."""
    option = store_option(store)
    if progress.stopped is not None:
        say_stopped(progress.stopped, store, resume=f"piiloom generate --resume {progress.run_id}")
    elif progress.status == "interrupted":
        say_aside(f"interrupted; nothing accepted is lost. Go on with: piiloom generate --resume {progress.run_id}{option}", always=True)
    elif progress.status == "failed":
        say_error(
            f"run {progress.run_id} has {progress.accepted} of {counted(progress.wanted, 'record')} and nothing left to try. "
            f"See why with: piiloom stages list --run {progress.run_id}{option}. Then start a run with other settings (more --pairs, "
            "--topics-per-pair or --max-attempts, another --model)"
        )


def say_stopped(stopped: StoppedEarly, store: Path, *, resume: str) -> None:
    """Say on standard error why a run stopped by itself; *resume* is the command that goes on with it."""
    say_error(f"{stopped.run_id}: {stopped.message}. {stopped.ways_on(resume, store_option(store))}")


def _top(progress: RunProgress) -> str:
    top = progress.reasons.most_common(_REASONS_SHOWN)
    more = ", …" if len(progress.reasons) > len(top) else ""
    return f" ({', '.join(f'{reason} {count:,}' for reason, count in top)}{more})" if top else ""


def _cost(progress: RunProgress, provider: str) -> str:
    if provider == "composer":
        return "none (the composer is a template-based generator; no model was called)"
    totals = progress.totals
    calls = f"{counted(totals.answered, 'call')}, {totals.answered_now:,} of them now, {counted(totals.retries, 'retry')}"
    calls += f", {totals.replayed:,} from the journal"
    tokens = f"{counted(totals.input_tokens, 'token')} in, {totals.cached_tokens:,} of them cached, {totals.output_tokens:,} out"
    doubt = (
        f"; ${totals.charged_usd:.4f} set aside for {counted(totals.maybe_paid, 'call')} that may have been billed"
        if totals.maybe_paid
        else ""
    )
    return f"{cost_text(progress)} ({calls}; {tokens}){doubt}"


def in_stage_order(rows: Iterable[RowT], stage_of: Callable[[RowT], str]) -> list[RowT]:
    """Sort *rows* by their stage; those of stages that no recipe has (surrogates) come last, and else they keep their order."""
    rows = list(rows)
    if len({stage_of(row) for row in rows}) < 2:
        return rows  # there is nothing to sort, as for all that was made without calls
    from piiloom.generation.stages.pipeline import all_stage_names

    rank = {name: place for place, name in enumerate(all_stage_names())}
    return sorted(rows, key=lambda row: rank.get(stage_of(row), len(rank)))


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
            f"ETA {duration_text(left) if left is not None else 'unknown'}",
            f"{progress.rejected:,} rejected",
            *costs,
        ]
        return " · ".join(parts)


def accepted_text(accepted: int, wanted: int) -> str:
    """Write how many records are accepted. There are more than wanted where rejected items were tried again."""
    if accepted > wanted:
        return f"{counted(accepted, 'record')} accepted ({accepted - wanted:,} more than wanted)"
    return f"{accepted:,} of {counted(wanted, 'record')} accepted"


def cost_text(progress: RunProgress) -> str:
    """Write what the calls have cost so far; calls of unknown price are said, not counted as free."""
    totals = progress.totals
    cost = dollars(totals.cost_usd)
    return f"{cost} + {counted(totals.unpriced, 'call')} of unknown price" if totals.unpriced else cost
