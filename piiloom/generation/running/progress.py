"""The progress of a run or a single stage, and the early stop of a paid run that only rejects.

A run stops early if items are rejected for the same reason again and again and none is accepted. Items are counted in plan order. An
early stop is an interruption: decided items stay decided, and paid replies are kept. A resumed run gets the same records as a run that
was never stopped.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from piiloom.corpus.store.runs import RejectRow
from piiloom.execution.call_entries import CallTotals
from piiloom.foundation.errors import RunError
from piiloom.foundation.frames import Framed
from piiloom.foundation.noop import noop

if TYPE_CHECKING:
    from piiloom.generation.stage import ItemRejected, StageContext

# Codes of rejects due to an unavailable provider, which say nothing about the item. A resumed run tries these items again.
TRANSIENT_CODES = ("provider_unavailable", "rate_limited")


class StoppedEarly(RunError):
    """The run stopped because *count* items (or pairs, topics) were rejected with *code* at *stage*.

    ``example``: one of them, in the form that ``piiloom trace`` takes. ``hopeless``: nothing can be planned, so ``--stop-after 0`` would
    not help. ``remedy`` names the commands that continue the run.
    """

    def __init__(self, message: str, *, run_id: str, stage: str, code: str, count: int, example: str, hopeless: bool = False) -> None:
        super().__init__(message, where=run_id)
        self.run_id, self.stage, self.code, self.count, self.hopeless = run_id, stage, code, count, hopeless
        self.example = f"{run_id}:{example}"
        self.remedy = self.ways_on(f"piiloom generate --resume {run_id}")

    def ways_on(self, resume: str, option: str = "") -> str:
        """Return the advice how to continue; *resume* is the command for it, *option* is added to every command (``--store FILE``)."""
        see = f"See piiloom trace {shlex.quote(self.example)}{option}. "
        if self.code in TRANSIENT_CODES:
            return f"{see}Go on later with: {resume}{option}"
        again = f"piiloom generate --resume {self.run_id} --retry {self.code}{option}"
        if self.hopeless:
            return f"{see}When the cause is gone, ask again with: {again}"
        return f"{see}Go on with: {resume} --stop-after 0{option}; or, when the cause is gone, try these again with: {again}"


class RejectStreak:
    """Counts rejects per reason since the last accepted item; when one reason reaches *limit*, calls *stop* (0: never).

    ``stopped`` is then the error that says why.
    """

    def __init__(self, run_id: str, limit: int, *, what: str = "items", stop: Callable[[], object] = noop) -> None:
        self._run_id, self._limit, self._what, self._stop = run_id, limit, what, stop
        self._counts: Counter[tuple[str, str]] = Counter()
        self.stopped: StoppedEarly | None = None

    def tell(self, rejection: ItemRejected | None, name: object) -> None:
        """Note the outcome of *name*. Rejects of replayed replies, paid for by an earlier session, are not counted."""
        if rejection is None or not rejection.known:
            self.note(rejection.reason if rejection else None, name)

    def note(self, reason: tuple[str, str] | None, name: object) -> None:
        """Note that *name* was rejected for *reason* (stage, code), or was accepted (None).

        Rejects due to an unavailable provider are not counted: ``FailureLimit`` ends the run for those.
        """
        if reason is None:
            self._counts.clear()
            return
        stage, code = reason
        if code in TRANSIENT_CODES or self.stopped is not None:
            return
        self._counts[reason] += 1
        if self._limit and self._counts[reason] >= self._limit:
            self.stopped = StoppedEarly(
                f"stopped early: {self._limit} {self._what} were rejected at {stage} for {code}, and none was accepted in between",
                run_id=self._run_id,
                stage=stage,
                code=code,
                count=self._limit,
                example=str(name),
            )
            self._stop()


def streak_of(ctx: StageContext, run_id: str, *, what: str = "items", stop: Callable[[], object] = noop) -> RejectStreak:
    """Return the reject counter of a session, with the limit ``stop_after``; with an unpaid provider it never stops the run."""
    return RejectStreak(run_id, ctx.config.stop_after if ctx.calls.provider.paid else 0, what=what, stop=stop)


_OF_A_STOP: Final = ("message", "stage", "code", "count", "example")


@dataclass(slots=True, kw_only=True)
class RunProgress(Framed):
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

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values, costs in USD."""
        totals, stopped = self.totals, self.stopped
        return {
            "run": self.run_id,
            "status": self.status,
            "wanted": self.wanted,
            "accepted": self.accepted,
            "rejected": self.rejected,
            "reasons": dict(self.reasons.most_common()),
            "cost_usd": totals.cost_usd,
            "unpriced_calls": totals.unpriced,
            "calls": totals.answered,
            "replayed_calls": totals.replayed,
            "failed_calls": totals.failed,
            "retries": totals.retries,
            "calls_now": totals.answered_now,
            "charged_usd": totals.charged_usd,
            "maybe_paid_calls": totals.maybe_paid,
            "input_tokens": totals.input_tokens,
            "cached_tokens": totals.cached_tokens,
            "output_tokens": totals.output_tokens,
            "stopped": None if stopped is None else {name: getattr(stopped, name) for name in _OF_A_STOP},
        }


Watch = Callable[[RunProgress], None]
