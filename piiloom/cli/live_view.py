"""Showing a run of paid calls while it goes: a table of its stages on a terminal, lines or JSON lines elsewhere.

All of it goes to standard error, so that standard output holds the result and nothing else.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from rich.console import Console
from rich.live import Live
from rich.text import Text

from piiloom.cli.event_lines import EventLines, say_event
from piiloom.cli.pace import Pace
from piiloom.cli.run_picture import RunPicture, TrafficView
from piiloom.cli.terminal import error_console, harmless, is_quiet, say_aside
from piiloom.execution.watching.events import EventSink, fan_out
from piiloom.execution.watching.metrics import RunMetrics
from piiloom.foundation.noop import noop
from piiloom.generation.running.progress import Watch
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
