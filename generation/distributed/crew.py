"""Who works on partitions: processes that are given assignments, and the desk that they share."""

from __future__ import annotations

from typing import Protocol

from piiloom.execution.desk.words import DeskLink, DeskSettings
from piiloom.generation.distributed.partition_work import Assignment, PartitionReport


class PartitionLost(Exception):
    """The process that worked on a partition died; ``cause`` names how, without any text of the run."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class Crew(Protocol):
    """At most ``partitions`` assignments are worked on at once."""

    @property
    def partitions(self) -> int:
        """How many processes there are."""
        ...

    async def open_desk(self, settings: DeskSettings) -> DeskLink:
        """Start the desk that all processes of this crew share."""
        ...

    async def work(self, assignment: Assignment, link: DeskLink) -> PartitionReport:
        """Have one process work on *assignment*; raises ``PartitionLost`` when it dies."""
        ...
