"""The panels of ``--help`` in which the options of a run stand."""

from __future__ import annotations

from typing import Final

RUN: Final = "Settings of the run"
CALLS: Final = "Paid calls"
