"""Checks of span boundaries: a span must not start or end with a blank, inside a word or inside a grapheme."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from piiloom.annotation_app.checks.check import Check
from piiloom.annotation_app.documents.document import Document, Mark
from piiloom.corpus.mention_search import stands_alone
from piiloom.corpus.normalising import extends, is_zero_width, trim
from piiloom.foundation.words import Range

# Scripts without blanks between words, or with particles joined to words: a span may start or end between two of their letters.
_RUN_ON = re.compile(
    "[\u0590-\u06ff\u0750-\u077f\u08a0-\u08ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
# How many characters to search for the end of a word that a span cuts. No word that a person would mark is longer.
_FAR = 60


def edge_checks(document: Document) -> Iterator[Check]:
    """Yield a check for each span that has outer blanks or cuts a word or grapheme.

    The fix moves the ends of the span, unless a neighboring span is in the way. A span of nothing but blanks is removed.
    """
    for place, span in enumerate(document.marks):
        better = tidied(document.context, span.start, span.end)
        if better == (span.start, span.end):
            continue
        yield _check(document.marks, place, better)


def tidied(text: str, start: int, end: int) -> Range:
    """Return the corrected range of the mention ``text[start:end]``: no outer blanks, whole words, whole graphemes.

    Returns (start, end) if nothing is wrong with it, and an empty range if it holds only blanks.
    """
    start, end = trim(text, start, end)
    if start == end:
        return start, end
    # The start and end of the whole text never cut a word, so each side can be tested alone.
    for earlier in range(start, max(-1, start - _FAR), -1):
        if stands_alone(text, earlier, len(text)) or _may_cut(text, earlier):
            start = earlier
            break
    for later in range(end, min(len(text), end + _FAR) + 1):
        if not is_zero_width(text[later - 1]) and (stands_alone(text, 0, later) or _may_cut(text, later)):
            end = later
            break
    return start, end


def _may_cut(text: str, at: int) -> bool:
    """Return whether *at* lies between two letters of a script in which a span may end there."""
    inside = 0 < at < len(text)
    return inside and not extends(text[at]) and bool(_RUN_ON.match(text[at]) and _RUN_ON.match(text[at - 1]))


def _check(spans: Sequence[Mark], place: int, better: Range) -> Check:
    span = spans[place]
    fix: dict[str, Any] | None
    if better[0] == better[1]:
        code, sentence = "span.blank", "This span holds nothing but blanks."
        fix, label = {"op": "remove", "id": span.id}, "remove it"
    else:
        inside = span.start <= better[0] and better[1] <= span.end
        code = "span.outer_blank" if inside else "span.cuts_word"
        sentence = "This span begins or ends with a blank." if inside else "This span begins or ends inside a word or a character."
        fix, label = {"op": "move", "id": span.id, "start": better[0], "end": better[1]}, "move its ends"
        room_before = place == 0 or spans[place - 1].end <= better[0]
        if not (room_before and (place + 1 == len(spans) or better[1] <= spans[place + 1].start)):
            fix = None
    return Check(
        code=code,
        sentence=sentence,
        spans=(span.id,),
        ranges=((span.start, span.end),),
        fix=fix,
        fix_label=label if fix else None,
    )
