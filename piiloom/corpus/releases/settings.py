"""The settings of a release: which records it takes, and how they are split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Balance = Literal["relevance", "type", "locale"]
# What keeps records together: group keys (story, scenario, persona, document, contrast group …), near-duplicate contexts, near-duplicate
# questions, rare values that they share, and parents that they were derived from.
GroupBy = Literal["keys", "contexts", "questions", "values", "parents"]
GROUP_BY: tuple[GroupBy, ...] = ("keys", "contexts", "questions", "values", "parents")
# What becomes of a value that may not be in two splits: drawn anew in the text, its records moved to the other split, or left out.
OverlapBy = Literal["redraw", "move", "withhold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitSettings:
    """How to split. Sizes are counts or fractions (see ``sizes``); with ``folds``, they are not used.

    ``max_value_overlap``: the largest share of the distinct values of open types in a test or validation split that may be in the
    train split, too (of a fold: in any other fold); None sets no limit. ``balance``: see ``balancing``.
    """

    test_size: float = 0.1
    validation_size: float = 0
    folds: int = 0
    seed: int = 7
    group_by: tuple[GroupBy, ...] = GROUP_BY
    balance: Balance | None = None
    max_value_overlap: float | None = None
    overlap_by: OverlapBy = "redraw"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordChoice:
    """Which records a release takes. ``status``: "any", or one of the statuses of a record, or "adjudicated".

    ``min_agreement``: the least share of annotators' labels that must be equal. ``judged``: "agree" leaves out records with a value
    that a judge saw otherwise than the plan; "any" takes all.
    """

    status: str = "any"
    run_id: str | None = None
    locale: str | None = None
    min_agreement: float | None = None
    judged: Literal["any", "agree"] = "any"
