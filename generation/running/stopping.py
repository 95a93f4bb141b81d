"""When a run of paid calls stops by itself: one thing goes wrong again and again, and nothing comes out of it.

Stopping is an interruption: what is decided stays decided, what was paid is kept, and whoever goes on gets the records that a
run without the stop would have had. Items are counted in the order in which they are handed on, which is that of the plan.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable

from piiloom.foundation.errors import RunError
from piiloom.generation.running.earlier import TRANSIENT_CODES
from piiloom.generation.stage import ItemRejected, StageContext


class StoppedEarly(RunError):
    """The run goes no further by itself: *count* items (or pairs, topics) met *code* at *stage*; *example* is what ``trace`` takes.

    ``hopeless``: nothing could be planned at all, so that there is nothing to keep going with.
    """

    def __init__(self, message: str, *, run_id: str, stage: str, code: str, count: int, example: str, hopeless: bool = False) -> None:
        super().__init__(message, where=run_id)
        self.run_id, self.stage, self.code, self.count, self.hopeless = run_id, stage, code, count, hopeless
        self.example = f"{run_id}:{example}"
        self.remedy = self.ways_on(f"piiloom generate --resume {run_id}")

    def ways_on(self, resume: str, option: str = "") -> str:
        """How to go on where *resume* is the command that does; *option* is what each command needs besides (``--store FILE``)."""
        see = f"See piiloom trace {shlex.quote(self.example)}{option}. "
        if self.code in TRANSIENT_CODES:
            return f"{see}Go on later with: {resume}{option}"
        again = f"piiloom generate --resume {self.run_id} --retry {self.code}{option}"
        if self.hopeless:
            return f"{see}When the cause is gone, ask again with: {again}"
        return f"{see}Go on with: {resume} --keep-going{option}; or, when the cause is gone, try these again with: {again}"


class RejectStreak:
    """Counts rejects since something was accepted last, each reason by itself; at *limit* of one it calls *stop* (0: never).

    ``stopped`` then says why. What is under way is treated as in any interruption.
    """

    def __init__(self, run_id: str, limit: int, *, what: str = "items", stop: Callable[[], object] = lambda: None) -> None:
        self._run_id, self._limit, self._what, self._stop = run_id, limit, what, stop
        self._counts: Counter[tuple[str, str]] = Counter()
        self.stopped: StoppedEarly | None = None

    def tell(self, rejection: ItemRejected | None, name: object) -> None:
        """Take note of what became of *name*. A reply that an earlier sitting has paid for says nothing about this one."""
        if rejection is None or not rejection.known:
            self.note(rejection.reason if rejection else None, name)

    def note(self, reason: tuple[str, str] | None, name: object) -> None:
        """Take note that *name* was rejected for *reason* (stage and code), or got through (None).

        That the provider was away is not counted: whoever asks it loses patience on its own.
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
                f"stopped early: {self._limit} {self._what} were rejected at {stage} for {code}, and none got through meanwhile",
                run_id=self._run_id,
                stage=stage,
                code=code,
                count=self._limit,
                example=str(name),
            )
            self._stop()


def streak_of(ctx: StageContext, run_id: str, *, what: str = "items", stop: Callable[[], object] = lambda: None) -> RejectStreak:
    """The streak that ends a sitting of *ctx*; what a provider gives for nothing may be tried to the end."""
    return RejectStreak(run_id, ctx.config.stop_after if ctx.calls.provider.paid else 0, what=what, stop=stop)
