"""Tags of tokens: 0 is outside of all spans, 2t + 1 begins a span of the t-th type, and 2t + 2 goes on with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from piiloom.corpus.record import Span

OUTSIDE: Final = 0
IGNORED: Final = -100


def tag_count(types: int) -> int:
    """Return how many tags there are for so many types."""
    return 2 * types + 1


def span_tokens(owners: Sequence[int], spans: int) -> list[tuple[int, int] | None]:
    """Return the first token and one past the last of each of so many *spans*, by the *owners* of ``token_tags``; None if it has none."""
    places: list[tuple[int, int] | None] = [None] * spans
    for at, owner in enumerate(owners):
        if owner >= 0:
            known = places[owner]
            places[owner] = (at if known is None else known[0], at + 1)
    return places


def token_tags(offsets: Sequence[tuple[int, int]], spans: Sequence[Span], number_of: Mapping[str, int]) -> tuple[list[int], list[int]]:
    """Return the tag of each token, and the position in *spans* of the span that it is part of (-1: none).

    *spans* are in order and disjoint; those of a type without a number (validation records may have one) leave their tokens outside.
    """
    tags, owners, following, last = [], [], 0, -1
    for start, end in offsets:
        while following < len(spans) and spans[following].end <= start:
            following += 1
        inside = following < len(spans) and spans[following].start < end and start < end
        number = number_of.get(spans[following].entity_type) if inside else None
        owner = following if number is not None else -1
        tags.append(OUTSIDE if number is None else 2 * number + (1 if owner != last else 2))
        owners.append(owner)
        last = owner
    return tags, owners
