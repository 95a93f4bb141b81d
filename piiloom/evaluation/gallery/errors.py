"""Kinds of errors, and the one row in which each gold and each predicted mention of a document stands.

How mentions are aligned is told in ``alignment``; this module names what came out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from piiloom.evaluation.inputs.documents import Mention

Boundary = Literal["too long", "too short", "shifted", "split", "merged"]
Kind = Literal["correct", "missed", "spurious", "not in the text", "wrong type", "wrong relevance"] | Boundary

BOUNDARY: tuple[Boundary, ...] = ("too long", "too short", "shifted", "split", "merged")
# All kinds but "correct", in the order in which they are shown.
ERRORS: tuple[Kind, ...] = ("missed", "spurious", "not in the text", "wrong type", *BOUNDARY, "wrong relevance")
KINDS: tuple[Kind, ...] = ("correct", *ERRORS)

MEANING: dict[Kind, str] = {
    "correct": "place, type and relevance (where both state one) as in gold",
    "missed": "a gold mention that no prediction overlaps, or only such as go with others",
    "spurious": "a predicted mention where gold has none, or none that is left",
    "not in the text": "a predicted value that the text does not hold",
    "wrong type": "the place overlaps, but the types differ (the place or the relevance may differ, too)",
    "too long": "the predicted mention holds the gold one and more",
    "too short": "the predicted mention is a part of the gold one",
    "shifted": "both overlap, and each has a part of its own",
    "split": "several predicted mentions for one of gold",
    "merged": "one predicted mention for several of gold",
    "wrong relevance": "place and type are right, high and low are confused",
}


@dataclass(frozen=True, slots=True)
class Row:
    """Mentions that belong together: one of gold and one predicted, or one and several, or one alone.

    ``gold`` is empty for what is spurious, ``found`` for what was missed; the first of each are those that were aligned, the others
    follow in the order of the text. ``kind`` is the first that holds of wrong type, a boundary error, wrong relevance; ``also`` are
    the others that hold.
    """

    kind: Kind
    gold: tuple[Mention, ...] = ()
    found: tuple[Mention, ...] = ()
    also: tuple[Kind, ...] = ()

    @property
    def counted(self) -> tuple[Mention, ...]:
        """The mentions that the row counts for: those of gold, or what was predicted without any."""
        return self.gold or self.found


def judged(gold: Sequence[Mention], found: Sequence[Mention]) -> Row:
    """Return the row of mentions that were aligned with each other; neither side is empty, and one of them has one mention."""
    kinds: list[Kind] = []
    if not {one.entity_type for one in gold} & {one.entity_type for one in found}:
        kinds.append("wrong type")
    boundary = _boundary(gold, found)
    if boundary is not None:
        kinds.append(boundary)
    wanted, given = ({one.relevance for one in side} for side in (gold, found))
    if None not in wanted and None not in given and not wanted & given:
        kinds.append("wrong relevance")
    return Row(kinds[0] if kinds else "correct", tuple(gold), tuple(found), tuple(kinds[1:]))


def _boundary(gold: Sequence[Mention], found: Sequence[Mention]) -> Boundary | None:
    if len(found) > 1:
        return "split"
    if len(gold) > 1:
        return "merged"
    wanted, given = gold[0].place, found[0].place
    if wanted is None or given is None or wanted == given:
        return None
    if given[0] <= wanted[0] and wanted[1] <= given[1]:
        return "too long"
    if wanted[0] <= given[0] and given[1] <= wanted[1]:
        return "too short"
    return "shifted"
