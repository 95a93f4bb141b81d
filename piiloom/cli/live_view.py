"""Showing a run of paid calls while it goes: a table of its stages on a terminal, lines or JSON lines elsewhere.

All of it goes to standard error, so that standard output holds the result and nothing else.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rich.console import Console
from rich.live import Live
from rich.text import Text

from piiloom.cli.run_summary import Pace, cost_text
from piiloom.cli.terminal import count_text, dollars, error_console, harmless, in_columns, is_quiet, say_aside, seconds_text
from piiloom.execution.batches.batch_scheduler import BatchModeState
from piiloom.execution.limits.limiter import LimiterState
from piiloom.execution.watching.events import Braked, CallFailed, Event, EventSink, ItemRejected, fan_out
from piiloom.execution.watching.metrics import RunMetrics, StageMetrics
from piiloom.foundation.noop import noop
from piiloom.foundation.words import counted
from piiloom.generation.running.progress import RunProgress, Watch
from piiloom.generation.stages.pipeline import stage_names

Mode = Literal["live", "lines", "json", "quiet"]
LINE_EVERY_S = 5.0
# Batches take hours.
BATCH_LINE_EVERY_S = 60.0
FRAME_EVERY_S = 0.25
# Drawing never takes more than this share of one core: where a frame is dear, they come less often.
_SHARE = 0.01


def chosen_mode(*, as_json: bool) -> Mode:
    """Say how a run is to be shown: as the options ask, else by whether standard error is a terminal."""
    if is_quiet():
        return "quiet"
    if as_json:
        return "json"
    return "live" if error_console().is_terminal else "lines"


@contextmanager
def shown_run(
    label: str,
    *,
    mode: Mode,
    traffic: TrafficView | None = None,
    budget_usd: float | None = None,
    stages: Iterable[str] = stage_names("staged", ()),
    line_every_s: float = LINE_EVERY_S,
) -> Iterator[tuple[Watch, EventSink]]:
    """Show the run *label* in *mode* as long as the block lasts; gives the watch and the event sink to feed.

    Lines come every *line_every_s*. The sink never raises. In mode ``quiet`` it is ``noop``, for which no event needs to be made.
    """
    if mode == "quiet":
        yield noop, noop
        return
    picture = RunPicture(
        label=label,
        pace=Pace(started=time.monotonic()),
        metrics=RunMetrics(stages),
        traffic=traffic,
        budget_usd=budget_usd,
    )
    if mode == "live":
        with _live(error_console(), picture):
            yield picture.watch, fan_out(picture.metrics)
    elif mode == "lines":
        with _ticking(lambda: say_aside(picture.line()), line_every_s):
            yield picture.watch, fan_out(picture.metrics)
    else:

        def say_progress() -> None:
            say_event("progress", picture.values())

        _unread_is_fine(say_progress)
        try:
            with _ticking(say_progress, line_every_s):
                yield picture.watch, fan_out(picture.metrics, EventLines(label))
        finally:
            _unread_is_fine(say_progress)


@contextmanager
def _live(console: Console, picture: RunPicture) -> Iterator[None]:
    with Live(console=console, auto_refresh=False) as live:

        def draw() -> None:
            live.update(_frame(picture, console.width), refresh=True)

        try:
            with _ticking(draw, FRAME_EVERY_S):
                yield
        finally:
            _unread_is_fine(draw)


def _frame(picture: RunPicture, width: int) -> Text:
    """Draw the picture. Lines set in columns here: a rich table takes 7 ms a frame, forty times as long."""
    lines = [*picture.lines(), *picture.table(width - 2)]
    return Text("\n  ".join(harmless(line) for line in lines), no_wrap=True, overflow="ellipsis")


@contextmanager
def _ticking(tick: Callable[[], None], every_s: float) -> Iterator[None]:
    """Call *tick* from a thread of its own as long as the block lasts: also when the run stands still, it is seen to."""
    ended = threading.Event()

    def work() -> None:
        pause = every_s
        while not ended.wait(pause):
            began = time.thread_time()
            tick()
            pause = max(every_s, (time.thread_time() - began) / _SHARE)

    thread = threading.Thread(target=_unread_is_fine, args=(work,), name="piiloom-view", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _unread_is_fine(show: Callable[[], None]) -> None:
    """Call *show*. When nobody reads standard error any more (a closed pipe or terminal), the run goes on unseen."""
    with suppress(OSError, ValueError):
        show()


Traffic = LimiterState | BatchModeState
# None: the run has not opened its channel to the provider yet.
TrafficView = Callable[[], Traffic | None]
_TITLES = ("stage", "queued", "in flight", "done", "rejected", "in", "cached", "out", "cost", "p50", "p95")
# What a narrow terminal does without, in this order.
_SPARED = ("cached", "out", "in", "p50", "queued", "cost", "p95")


@dataclass(slots=True, kw_only=True)
class RunPicture:
    """The parts that the picture of run *label* is made of; ``progress`` is the newest that its watch was given."""

    label: str
    pace: Pace
    metrics: RunMetrics
    traffic: TrafficView | None = None
    budget_usd: float | None = None
    progress: RunProgress | None = None

    def watch(self, progress: RunProgress) -> None:
        """Take note of how the run stands."""
        self.progress = progress
        if self.pace.first is None:
            self.pace.describe(progress, time.monotonic())  # notes what was there at the start

    def line(self) -> str:
        """Say it all in one line."""
        return " · ".join(self.lines())

    def lines(self) -> list[str]:
        """Say in a line each how far the run is and how fast, what it has cost, and what is under way."""
        if self.progress is None:
            return [f"{self.label}: starting", self.calls()]
        done = self.pace.describe(self.progress, time.monotonic(), cost="")
        return [f"{self.label}: {done}", self.cost(self.progress), self.calls()]

    def calls(self) -> str:
        """Say what is under way: calls and what the limiter allows, or batches."""
        state = self.traffic() if self.traffic else None
        if state is None:
            return f"{self.metrics.in_flight:,} in flight"
        return batches_text(state) if isinstance(state, BatchModeState) else limiter_text(state)

    def table(self, width: int) -> list[str]:
        """Give the lines of the table, *width* letters at most: its titles and a row a stage; none before the first event."""
        rows = [_cells(name, stage) for name, stage in self.metrics.stages.items()]
        return in_columns([_TITLES, *rows], width=width, spared=_SPARED) if rows else []

    def values(self) -> dict[str, Any]:
        """Give the same as JSON values."""
        progress, traffic = self.progress, self.traffic() if self.traffic else None
        if progress is None:
            return {"run": self.label, "preparing": "", "wanted": None, "accepted": 0, "rejected": 0}
        rate, left = (0.0, None) if progress.preparing else self.pace.reckon(progress, time.monotonic())
        return {
            "run": self.label,
            "preparing": progress.preparing,
            "wanted": progress.wanted,
            "accepted": progress.accepted,
            "rejected": progress.rejected,
            "rate_per_s": round(rate, 4),
            "eta_s": None if left is None else round(left, 1),
            "cost_usd": progress.totals.cost_usd,
            "spent_usd": progress.totals.spent_usd,
            "budget_usd": self.budget_usd,
            "unpriced_calls": progress.totals.unpriced,
            "in_flight": self.metrics.in_flight,
            "limiter": asdict(traffic) if isinstance(traffic, LimiterState) else None,
            "batches": _batches(traffic) if isinstance(traffic, BatchModeState) else None,
            "stages": {name: _values(stage) for name, stage in self.metrics.stages.items()},
        }

    def cost(self, progress: RunProgress) -> str:
        """Say what has been spent. A budget is held against all of it, with what is set aside for calls of unknown outcome."""
        totals, cost = progress.totals, cost_text(progress)
        if totals.charged_usd:
            cost += f" + {dollars(totals.charged_usd)} set aside"
        if self.budget_usd is not None:
            cost += f" of {dollars(self.budget_usd)} ({totals.spent_usd / self.budget_usd:.0%})"
        return cost


def limiter_text(state: LimiterState) -> str:
    """Say what is in flight, what the limiter allows, and whether it holds everyone back at the moment."""
    parts = [f"{state.in_flight:,} in flight of {state.limit:,}"]
    if state.waiting:
        parts.append(f"{state.waiting:,} waiting")
    rates = [f"{count_text(round(rate))} {name}" for rate, name in ((state.rpm, "rpm"), (state.tpm, "tpm")) if rate is not None]
    parts += [f"limit {', '.join(rates)}"] if rates else []
    if state.braking_for_s > 0:
        parts.append(f"paused by the server for {state.braking_for_s:.0f} s")
    if state.refused:
        parts.append(f"{state.refused:,} refused by the server")
    return " · ".join(parts)


def batches_text(state: BatchModeState) -> str:
    """Say what is out at the provider, how far it has come there, and what gathers for the next batches."""
    out, requests = len(state.out), sum(batch.total for batch in state.out)
    done = sum(batch.done for batch in state.out)
    parts = [f"{counted(out, 'open batch')}: {done:,} of {counted(requests, 'request')} done"] if out else ["no open batch"]
    parts += [f"{counted(state.gathered, 'call')} gathered for the next"] if state.gathered else []
    return " · ".join(parts)


def _batches(state: BatchModeState) -> dict[str, Any]:
    out = [{"id": batch.row.remote_id, "state": batch.row.state, "requests": batch.total, "done": batch.done} for batch in state.out]
    return {"out": out, "gathered": state.gathered}


def _cells(name: str, stage: StageMetrics) -> tuple[str, ...]:
    known = dollars(stage.cost_usd)
    return (
        name,
        f"{stage.queued:,}",
        f"{stage.in_flight:,}",
        f"{stage.done:,}",
        f"{stage.rejected:,}",
        count_text(stage.input_tokens),
        count_text(stage.cached_tokens),
        count_text(stage.output_tokens),
        f"{known} + ?" if stage.unpriced else known,
        seconds_text(stage.p50_s),
        seconds_text(stage.p95_s),
    )


def _values(stage: StageMetrics) -> dict[str, Any]:
    return {
        "queued": stage.queued,
        "in_flight": stage.in_flight,
        "done": stage.done,
        "rejected": stage.rejected,
        "answered": stage.answered,
        "replayed": stage.replayed,
        "retries": stage.retries,
        "failures": stage.failures,
        "refused": stage.refused,
        "input_tokens": stage.input_tokens,
        "cached_tokens": stage.cached_tokens,
        "output_tokens": stage.output_tokens,
        "cost_usd": stage.cost_usd,
        "unpriced_calls": stage.unpriced,
        "p50_s": stage.p50_s,
        "p95_s": stage.p95_s,
    }


def say_event(name: str, values: dict[str, Any]) -> None:
    """Print one line. The only write of it, so that lines of two threads never mix."""
    sys.stderr.write(json.dumps({"event": name, **values}, ensure_ascii=False) + "\n")
    sys.stderr.flush()


class EventLines:
    """An event sink that prints what people would look into, as it happens, for the run *run_id*."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    def __call__(self, event: Event) -> None:
        """Print *event* if it is one of those."""
        match event:
            case ItemRejected(stage, item_id, code):
                say_event("reject", {"run": self._run_id, "stage": stage, "item": item_id, "code": code})
            case CallFailed(stage, item_id, attempt, code, final=True):
                say_event("failure", {"run": self._run_id, "stage": stage, "item": item_id, "attempt": attempt, "code": code})
            case Braked(seconds):
                say_event("brake", {"run": self._run_id, "seconds": seconds})
            case _:
                pass
