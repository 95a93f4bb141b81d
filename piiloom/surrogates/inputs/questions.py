"""A text and the question about it (``--question-field``) are one document, so that both are filled with one cast.

The document's text is the text, a blank line, and the question. Afterwards they are parted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from piiloom.corpus.mention_search import exact_mentions
from piiloom.foundation.errors import DataError
from piiloom.surrogates.documents import Document, Mention, Placed, Replaced
from piiloom.surrogates.inputs.parts import Found

_BETWEEN: Final = "\n\n"
NO_QUESTION: Final = "rows without a question"
Ranges = Sequence[Sequence[int]]


def joined(text: str, question: str) -> str:
    """Return the text of the document."""
    return f"{text}{_BETWEEN}{question}"


def question_start(text: str) -> int:
    """Return where the question begins in the document of *text*."""
    return len(text) + len(_BETWEEN)


def asked(found: Found, question: str) -> Found:
    """Return *found*, the text of a row, with the question of that row."""
    text, mentions = found.text, found.mentions
    if mentions is not None:
        mentions = with_question(mentions, text, question)
    return found._replace(text=joined(text, question), mentions=mentions, question_at=question_start(text))


def with_question(mentions: Sequence[Mention], text: str, question: str) -> tuple[Mention, ...]:
    """Return the given *mentions* of *text*, and those of the same words in the question."""
    found: dict[tuple[int, int], Mention] = {}
    for mention in sorted(mentions, key=lambda one: one.start - one.end):  # a longer one wins over one that it holds
        for start, end in exact_mentions(question, mention.original):
            if all(end <= other or start >= stop for other, stop in found):
                found[start, end] = mention
    shift = question_start(text)
    return (*mentions, *(found[place]._replace(start=place[0] + shift, end=place[1] + shift) for place in sorted(found)))


def parted(replaced: Replaced, start: int) -> tuple[Replaced, Replaced]:
    """Return text and question of a document in which the question began at *start*, each with its own offsets.

    Raises ``DataError`` if a placeholder goes from one into the other.
    """
    of_text: list[Placed] = []
    of_question: list[Placed] = []
    grown = 0
    for place in replaced.placed:
        if place.end <= start - len(_BETWEEN):
            of_text.append(place)
            grown = place.new_end - place.end
        elif place.start >= start:
            shift, new_shift = start, start + grown
            start_at, end_at = place.start - shift, place.end - shift
            of_question.append(
                place._replace(start=start_at, end=end_at, new_start=place.new_start - new_shift, new_end=place.new_end - new_shift)
            )
        else:
            raise DataError("a placeholder goes from the text into the question", remedy="Close it in the row")
    cut = start + grown
    return Replaced(replaced.text[: cut - len(_BETWEEN)], of_text), Replaced(replaced.text[cut:], of_question)


def parted_document(document: Document) -> tuple[Document, Document]:
    """Return the text and the question of *document* as documents of their own, with their own mentions."""
    start = document.question_at
    assert start is not None  # noqa: S101 - asked only of documents with a question
    mentions = document.mentions or ()
    text = document._replace(
        text=document.text[: start - len(_BETWEEN)], mentions=tuple(one for one in mentions if one.end < start), question_at=None
    )
    of_question = tuple(one._replace(start=one.start - start, end=one.end - start) for one in mentions if one.start >= start)
    return text, document._replace(text=document.text[start:], mentions=of_question, question_at=None)


def joined_ranges(ranges: Ranges, of_question: Ranges, shift: int, new_shift: int) -> list[tuple[int, ...]]:
    """Return the replaced ranges of a document from those of its text and its question, which began and begins at these offsets."""
    moved = [(start + shift, end + shift, new_start + new_shift, new_end + new_shift) for start, end, new_start, new_end in of_question]
    return [*(tuple(one) for one in ranges), *moved]
