"""Documents whose text lies in several places of a file: a text and the question about it, the rows of a lesson.

With ``--question-field`` the document's text is the text, a blank line, and the question, so that both are filled with one cast.

With ``--group-by`` it has a line for each row of a table: its text, after "speaker: " where a column has the speakers. The rows of one
document follow one another. Each cell is written back to its own place, so the file keeps its form.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from piiloom.corpus.mention_search import exact_mentions
from piiloom.foundation.errors import DataError
from piiloom.surrogates.documents import Document, Mention, Placed, Replaced
from piiloom.surrogates.inputs.parts import FileChange, FilePart, FoundText, Parsed, TextSlot, fault

if TYPE_CHECKING:
    from piiloom.surrogates.inputs.given_spans import RowSpans

_AFTER_SPEAKER: Final = ": "
_BETWEEN: Final = "\n\n"
NO_QUESTION: Final = "rows without a question"


class TextCell(NamedTuple):
    """The text of a cell, and where it begins in its document."""

    text: str
    slot: TextSlot
    at: int = 0


class CellsSlot(TextSlot):
    """A document of which each part lies in a cell of its own, with the spans that the row has of it. *row* is the range of all of them."""

    __slots__ = ("_cells", "_spans")

    def __init__(self, cells: Sequence[TextCell], row: tuple[int, int] | None = None, spans: RowSpans | None = None) -> None:
        super().__init__(*(row or (min(cell.slot.start for cell in cells), max(cell.slot.end for cell in cells))))
        self._cells, self._spans = cells, spans

    def rest(self, parsed: Parsed) -> str:
        """Return what is between the cells, and what of the spans stays."""
        places = [(cell.slot.start, cell.slot.end) for cell in self._cells]
        if self._spans is not None:
            places.append(self._spans.place)
        places.sort()
        between = zip((self.start, *(end for _, end in places)), (*(start for start, _ in places), self.end), strict=True)
        return "".join([parsed.outside(end, start) for end, start in between]) + (self._spans.rest() if self._spans is not None else "")

    def changes(self, parsed: Parsed, replaced: Replaced) -> list[FileChange]:
        """See ``TextSlot``. Raises ``DataError`` if a placeholder goes from one cell into another."""
        parts = divided(replaced, [(cell.at, cell.at + len(cell.text)) for cell in self._cells])
        if parts is None:
            raise DataError("a placeholder goes from one cell into another", remedy="Close it in its row, or leave --group-by out")
        pairs = zip(self._cells, parts, strict=True)
        changes = [change for cell, done in pairs if done.placed for change in cell.slot.changes(parsed, done)]
        if self._spans is not None:
            changes += self._spans.changes(parsed, parts[0])
        return sorted(changes)


def divided(replaced: Replaced, ranges: Sequence[tuple[int, int]]) -> list[Replaced] | None:
    """Return the part of *replaced* in each of *ranges* of the old text, with its own offsets; None if a place is in no range."""
    places, number, grown = replaced.placed, 0, 0
    parts: list[Replaced] = []
    for at, end in ranges:
        own: list[Placed] = []
        new_at = at + grown
        while number < len(places) and at <= places[number].start < places[number].end <= end:
            place = places[number]
            start, stop, new_start, new_stop = (place.start - at, place.end - at, place.new_start - new_at, place.new_end - new_at)
            own.append(place._replace(start=start, end=stop, new_start=new_start, new_end=new_stop))
            grown = place.new_end - place.end
            number += 1
        parts.append(Replaced(replaced.text[new_at : end + grown], own))
    return parts if number == len(places) else None


def joined_texts(text: str, question: str) -> str:
    """Return the text of the document."""
    return f"{text}{_BETWEEN}{question}"


def question_start(text: str) -> int:
    """Return where the question begins in the document of *text*."""
    return len(text) + len(_BETWEEN)


def asked(found: FoundText, question: str) -> FoundText:
    """Return *found*, the text of a row, with the question of that row."""
    mentions = found.mentions
    if mentions is not None:
        mentions = with_question(mentions, found.text, question)
    return found._replace(text=joined_texts(found.text, question), mentions=mentions, question_at=question_start(found.text))


def with_question(mentions: Sequence[Mention], text: str, question: str) -> tuple[Mention, ...]:
    """Return the given *mentions* of *text*, and those of the same words in the question."""
    found: dict[tuple[int, int], Mention] = {}
    for mention in sorted(mentions, key=lambda one: one.start - one.end):  # a longer one wins over one that it holds
        for start, end in exact_mentions(question, mention.original):
            if all(end <= other or start >= stop for other, stop in found):
                found[start, end] = mention
    shift = question_start(text)
    return (*mentions, *(found[place]._replace(start=place[0] + shift, end=place[1] + shift) for place in sorted(found)))


def parted_texts(replaced: Replaced, start: int) -> list[Replaced]:
    """Return text and question of a document in which the question began at *start*, each with its own offsets.

    Raises ``DataError`` if a placeholder goes from one into the other.
    """
    parts = divided(replaced, [(0, start - len(_BETWEEN)), (start, sys.maxsize)])
    if parts is None:
        raise DataError("a placeholder goes from the text into the question", remedy="Close it in the row")
    return parts


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


def joined_ranges(
    ranges: Sequence[Sequence[int]], of_question: Sequence[Sequence[int]], shift: int, new_shift: int
) -> list[tuple[int, ...]]:
    """Return the replaced ranges of a document from those of its text and its question, which began and begins at these offsets."""
    moved = [(start + shift, end + shift, new_start + new_shift, new_end + new_shift) for start, end, new_start, new_end in of_question]
    return [*(tuple(one) for one in ranges), *moved]


class Turn(NamedTuple):
    """A row of the document *key*: its line and its start in the part, its speaker if a column has it, and its text."""

    key: str
    line: int
    start: int
    speaker: TextCell | None
    text: TextCell


def grouped_turns(turns: Sequence[Turn], part: FilePart, raw: str) -> Iterator[FoundText]:
    """Yield the documents of which the rows are *turns*. Raises ``DataError`` if rows of one document are apart."""
    known: set[str] = set()
    for key, rows in groupby(turns, key=attrgetter("key")):
        own = list(rows)
        if key in known:
            remedy = "Sort the table by the column of --group-by"
            raise fault(part, raw, own[0].start, "the rows of a document are not all together", remedy)
        known.add(key)
        lines: list[str] = []
        cells: list[TextCell] = []
        speakers: list[tuple[int, str]] = []
        at = 0
        for turn in own:
            line = turn.text.text
            if turn.speaker is not None:
                line = f"{turn.speaker.text}{_AFTER_SPEAKER}{line}"
                speakers.append((at, turn.speaker.text))
                cells.append(turn.speaker._replace(at=at))
            lines.append(line)
            cells.append(turn.text._replace(at=at + len(line) - len(turn.text.text)))
            at += len(line) + 1
        yield FoundText("\n".join(lines), CellsSlot(cells), key or None, own[0].line, turns=tuple(speakers))
