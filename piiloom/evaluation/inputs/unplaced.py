"""What becomes of a value that has no place in its text, or not the stated one.

In the gold it is an error, or left out with ``--skip-values``; in predictions it is kept as a mention without a place, which no scheme
on offsets finds in the gold: it counts as spurious.
"""

from __future__ import annotations

from typing import Literal

from piiloom.corpus.formats.native_rows import RowFault
from piiloom.evaluation.inputs.summary import SideSummary

Handling = Literal["refuse", "leave out", "keep"]


class Unplaced:
    """Applies *handling* to the values of one side, and counts them in *summary*."""

    def __init__(self, handling: Handling, summary: SideSummary) -> None:
        self._handling = handling
        self._summary = summary

    def keep(self, fault: str) -> bool:
        """Whether to keep a value without a place; raises ``RowFault`` with *fault* if it is refused."""
        if self._handling == "refuse":
            raise RowFault(f"{fault}; --skip-values leaves such values of the gold out")
        if self._handling == "leave out":
            self._summary.skipped += 1
            return False
        self._summary.without_place += 1
        return True
