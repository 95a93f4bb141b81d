r"""Which tokens a mention covers, wholly or in part. A token is a run of ``\w`` or one other character that is no blank."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from piiloom.evaluation.inputs.documents import Document, Mention

_TOKEN = re.compile(r"\w+|[^\w\s]")
# From the range [start, end) to the starts of the tokens that have a character in it.
Cover = Callable[[int, int], Iterable[int]]


def token_cover(gold: Document, found: Document) -> Cover:
    """Return what finds the tokens of two readings of a document: those of its text, or of the mentions' values if neither has a text."""
    text = gold.text if gold.text is not None else found.text
    if text is not None:
        return _in_text(text)
    return _in_values([*gold.mentions, *found.mentions])


def token_count(value: str) -> int:
    """Return the number of tokens of *value*, 1 at least."""
    return sum(1 for _ in _TOKEN.finditer(value)) or 1


def _in_text(text: str) -> Cover:
    def starts(start: int, end: int) -> list[int]:
        # To its right, a token that is cut has the right start all the same.
        while 0 < start < len(text) and _in_word(text[start - 1]) and _in_word(text[start]):
            start -= 1
        return [token.start() for token in _TOKEN.finditer(text, start, end)]

    return starts


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _in_values(mentions: Iterable[Mention]) -> Cover:
    """Tokens of the values, each at its place; those that overlap are one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted({place for mention in mentions for place in _token_places(mention)}):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    ends = [end for _, end in merged]

    def starts(start: int, end: int) -> Iterator[int]:
        for begin, _ in merged[bisect_right(ends, start) :]:
            if begin >= end:
                return
            yield begin

    return starts


def _token_places(mention: Mention) -> Iterator[tuple[int, int]]:
    if mention.start is None or mention.end is None:
        return
    if len(mention.text) != mention.end - mention.start:  # the value is not what stands there
        yield mention.start, mention.end
        return
    for token in _TOKEN.finditer(mention.text):
        yield mention.start + token.start(), mention.start + token.end()
