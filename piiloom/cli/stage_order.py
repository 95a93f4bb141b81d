"""Rows about stages in the order of the pipeline, which does not hang on what happened to be asked first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

R = TypeVar("R")


def in_stage_order(rows: Iterable[R], stage_of: Callable[[R], str]) -> list[R]:
    """Sort *rows* by their stage; those of stages that no recipe has (surrogates) come last, and else they keep their order."""
    rows = list(rows)
    if len({stage_of(row) for row in rows}) < 2:
        return rows  # there is nothing to sort, as for all that was made without calls
    from piiloom.generation.stages.pipeline import all_stage_names  # noqa: PLC0415 - loads all stages, half a second

    rank = {name: place for place, name in enumerate(all_stage_names())}
    return sorted(rows, key=lambda row: rank.get(stage_of(row), len(rank)))
