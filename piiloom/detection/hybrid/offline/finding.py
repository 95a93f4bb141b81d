"""What a rule finds."""

from __future__ import annotations

from typing import NamedTuple


class RuleFinding(NamedTuple):
    """``text[start:end]`` is taken for the entity with this id, by the rule *finder*."""

    start: int
    end: int
    entity_id: str
    score: float
    finder: str
