"""The error of a run that stopped by itself. It imports no stage, so that commands that only read the store start quickly."""

from __future__ import annotations

import shlex

from piiloom.foundation.errors import RunError

# Codes of rejects due to an unavailable provider, which say nothing about the item. A resumed run tries these items again.
TRANSIENT_CODES = ("provider_unavailable", "rate_limited")


class StoppedEarly(RunError):
    """The run stopped because *count* items (or pairs, topics) were rejected with *code* at *stage*.

    ``example``: one of them, in the form that ``piiloom trace`` takes. ``hopeless``: nothing can be planned, so ``--keep-going`` would
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
        return f"{see}Go on with: {resume} --keep-going{option}; or, when the cause is gone, try these again with: {again}"
