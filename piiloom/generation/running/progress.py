"""The progress of a run or a single stage, as reported to a watcher."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from piiloom.corpus.store.progress import RejectRow
from piiloom.execution.call_totals import CallTotals
from piiloom.generation.running.stopping import StoppedEarly


@dataclass(slots=True, kw_only=True)
class RunProgress:
    """Counts of accepted and wanted records (or items of a single stage), and rejects by ``stage: code``.

    ``status`` is running, finished, interrupted (resumable) or failed (fewer accepted than wanted, nothing left to try).
    ``stopped`` says why a run stopped by itself, if it did.
    """

    run_id: str
    wanted: int
    accepted: int = 0
    rejected: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    totals: CallTotals = field(default_factory=CallTotals)
    status: str = "running"
    # What is being prepared before items can be worked on, such as "topics 12/78".
    preparing: str = ""
    stopped: StoppedEarly | None = None

    def missing(self) -> int:
        """Return how many are still wanted; below 0 if there are more than that."""
        return self.wanted - self.accepted

    def count_reject(self, row: RejectRow) -> None:
        """Count one rejected item."""
        self.rejected += 1
        self.reasons[f"{row.stage}: {row.reason_code}"] += 1


Watch = Callable[[RunProgress], None]
