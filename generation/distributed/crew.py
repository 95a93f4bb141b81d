"""The protocol of a worker pool: processes that work on assignments, and the desk (rate limiter and budget) that they share."""

from __future__ import annotations

from typing import Protocol

from piiloom.execution.desk.words import DeskLink, DeskSettings
from piiloom.generation.distributed.partition_work import Assignment, PartitionReport


class PartitionLost(Exception):
    """The process that worked on a partition died; ``cause`` is the name of the error, without any text of the run."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class Crew(Protocol):
    """A pool of worker processes that works on at most ``partitions`` assignments at once."""

    @property
    def partitions(self) -> int:
        """How many processes there are."""
        ...

    async def open_desk(self, settings: DeskSettings) -> DeskLink:
        """Start the desk that all workers share and return a link to it."""
        ...

    async def work(self, assignment: Assignment, link: DeskLink) -> PartitionReport:
        """Let one process work on *assignment* and return its report; raises ``PartitionLost`` if the process dies."""
        ...
