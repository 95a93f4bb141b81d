"""The progress of ``piiloom surrogate run`` on a terminal."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from piiloom.foundation.words import counted
from piiloom.surrogates.progress import Progress as RunProgress


class Bar:
    """Shows the progress of a run on *screen*."""

    def __init__(self, screen: Console) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[detail]}"),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=screen, transient=True)
        self._task = self._progress.add_task("preparing", total=None, detail="")
        self._phase = ""

    def __enter__(self) -> Callable[[RunProgress], None]:
        self._progress.start()
        return self.show

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, now: RunProgress) -> None:
        """Take over how far the run is."""
        if now.phase != self._phase:
            self._phase = now.phase
            self._progress.reset(self._task, total=now.total or None)
        detail = counted(now.replaced, "surrogate") if now.replaced else ""
        self._progress.update(self._task, description=now.phase, completed=now.done, total=now.total or None, detail=detail)
