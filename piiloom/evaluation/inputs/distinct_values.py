"""The values of a document, for schemes that compare values and not mentions."""

from __future__ import annotations

from collections.abc import Iterable

from piiloom.evaluation.inputs.documents import Mention


def distinct_values(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Return one mention of each value, in the order of the first mentions; those without a place come last, in their order.

    As in a CAPID file, which names each value once, it is the first highly relevant mention, or else the first with a relevance, or
    else the first. Blank values are left out.
    """
    by_value: dict[str, list[Mention]] = {}
    for mention in sorted(mentions, key=_place):
        by_value.setdefault(mention.text, []).append(mention)
    return tuple(_chosen(same) for value, same in by_value.items() if value.strip())


def _place(mention: Mention) -> tuple[bool, int]:
    return mention.start is None, mention.start or 0


def _chosen(same: list[Mention]) -> Mention:
    return next((one for relevance in ("high", "low") for one in same if one.relevance == relevance), same[0])
