"""Jobs that are done elsewhere, in their order, with a bounded number of them under way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

Job = TypeVar("Job")
T = TypeVar("T")

WINDOW: Final = 4  # jobs per worker that are submitted and whose results are not yet taken; bounds the memory


def submitted(jobs: Iterable[Job], submit: Callable[[Job], T], *, workers: int) -> Iterator[tuple[Job, T]]:
    """Yield each job, in order, with what ``submit(job)`` gave; at most ``WINDOW`` jobs per worker are submitted and not yet yielded."""
    pending: deque[tuple[Job, T]] = deque()
    source = iter(jobs)
    while True:
        while len(pending) < WINDOW * workers and (job := next(source, None)) is not None:
            pending.append((job, submit(job)))
        if not pending:
            return
        yield pending.popleft()
