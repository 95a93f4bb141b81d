"""Documents with their mentions and surrogates, and the seeds of one document."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from piiloom.foundation.errors import DataError
from piiloom.foundation.seeding import keyed_seeds
from piiloom.pii_values.names.regions import Gender


class DocumentSeeds(NamedTuple):
    """Seeds of one document, of which none tells another.

    ``people`` is for names and all that belongs to people, ``shift`` for the days by which known dates move, ``days`` for dates that are
    drawn, ``values`` for all other values. ``style`` is for ways of writing, which a reader sees.
    """

    people: int
    shift: int
    days: int
    values: int
    style: int


def document_seeds(key: bytes, text: str, ordinal: int) -> DocumentSeeds:
    """Return the seeds of the document *text*, before which *ordinal* documents of the same text come."""
    return DocumentSeeds(*keyed_seeds(key, "document", ordinal, text)[: len(DocumentSeeds._fields)])


Same = Literal["mention", "document", "corpus"]


class Mention(NamedTuple):
    """A range ``[start, end)`` of the input text (code points), and what the placeholder or the given span says about it.

    ``kind`` is one of ``data/kinds.yaml``. Mentions of one kind with equal ``role`` and ``index`` are the same person, place …
    within the scope ``same``; with ``same="mention"`` each one without ``index`` is a new one. ``form`` is the form of a name
    ("full", "given", "family", "initials", "nick", "family_given") or a variant of another kind; "" leaves it to the kind.
    ``gender`` is the gender that the role implies ("dochter"). ``original`` is the replaced text, where it is known.
    ``plural``: two or more people. ``rule`` names the mapping rule that found the mention.
    """

    start: int
    end: int
    kind: str
    role: str = ""
    index: str = ""  # type: ignore[assignment]  # hides tuple.index, which is not used
    same: Same = "document"
    form: str = ""
    gender: Gender | None = None
    original: str = ""
    plural: bool = False
    rule: str = ""


class Document(NamedTuple):
    """One text. ``number`` is its position in the input (0-based), ``ordinal`` the number of documents of the same text before it.

    ``mentions`` is set if the input brought spans; if None, the finder looks for placeholders in the text. ``question_at``: where the
    question about the text begins, which is at its end (``inputs.tables``). ``lines_apart``: a surrogate cannot go over a line's end.
    ``covered`` are given spans that others cover: they are not replaced, but their values are known. ``turns``: where the turn of each
    speaker begins, and who that is ("student"), if the input has a column of them.
    """

    number: int
    id: str
    text: str
    file: str
    line: int | None = None
    mentions: tuple[Mention, ...] | None = None
    question_at: int | None = None
    lines_apart: bool = False
    covered: tuple[Mention, ...] = ()
    turns: tuple[tuple[int, str], ...] = ()
    ordinal: int = 0

    @property
    def place(self) -> str:
        """The place of the text for messages: file and line, or the id of a text that is a file."""
        return self.id if self.line is None else f"{self.file}:{self.line}"


class Placed(NamedTuple):
    """One surrogate: ``[start, end)`` in the input text became ``[new_start, new_end)`` of the output text.

    All offsets are code points. Surrogates with the same ``value_id`` belong to one person, place or value of the document.
    """

    start: int
    end: int
    new_start: int
    new_end: int
    kind: str
    entity_type: str
    subtype: str | None
    value_id: str
    role: str


@dataclass(slots=True)
class Replaced:
    """The output text of a document and its surrogates, in text order.

    ``unknown`` (placeholders of unknown meaning) and ``left`` (brackets that are no placeholders) are ranges of the input text.
    ``tallies`` are counts that are summed over all documents for the report. ``person_groups``: the groups of the people by role, if
    records are to state them.
    """

    text: str
    placed: list[Placed]
    unknown: Sequence[tuple[int, int]] = ()
    left: Sequence[tuple[int, int]] = ()
    tallies: dict[str, int] = field(default_factory=dict)
    person_groups: dict[str, list[str]] | None = None


Ranges = tuple[tuple[int, int, int, int], ...]


class OffsetMap:
    """Offset map, made of the (start, end, new_start, new_end) of the replaced ranges as in ``map.jsonl``.

    Offsets are code points. Outside replaced ranges an offset maps to the same character. An offset inside a replaced range maps
    to the start of the corresponding range, or with ``end=True`` to its end. So a span (start, end) maps to
    ``(to_output(start), to_output(end, end=True))``. Raises ``DataError`` if the ranges are unsorted, empty or inconsistent.
    """

    __slots__ = ("_new_starts", "_starts", "ranges")

    def __init__(self, ranges: Iterable[Sequence[int]]) -> None:
        self.ranges: Ranges = tuple((start, end, new_start, new_end) for start, end, new_start, new_end in ranges)
        at = new_at = 0
        for start, end, new_start, new_end in self.ranges:
            if not (at <= start < end and new_at <= new_start < new_end and start - at == new_start - new_at):
                raise DataError("the replaced ranges are out of order, empty, or do not fit each other", where="offset map")
            at, new_at = end, new_end
        self._starts = [one[0] for one in self.ranges]
        self._new_starts = [one[2] for one in self.ranges]

    def to_output(self, offset: int, *, end: bool = False) -> int:
        """Map an *offset* of the input to the output; ``end`` says that it is an exclusive end."""
        return _moved(self._starts, self.ranges, offset, 0, 2, end=end)

    def to_input(self, offset: int, *, end: bool = False) -> int:
        """Map an *offset* of the output to the input; ``end`` says that it is an exclusive end."""
        return _moved(self._new_starts, self.ranges, offset, 2, 0, end=end)

    def restore(self, output: str, originals: Sequence[str]) -> str:
        """Return the input text, from the output and the original of each replaced range, in order."""
        return "".join(self._woven(output, originals, 2))

    def agrees(self, text: str, output: str) -> bool:
        """Whether *output* is *text* with nothing but the replaced ranges changed. Every other code point is compared."""
        if self.ranges and (self.ranges[-1][1] > len(text) or self.ranges[-1][3] > len(output)):
            return False
        values = [output[new_start:new_end] for _, _, new_start, new_end in self.ranges]
        return "".join(self._woven(text, values, 0)) == output

    def _woven(self, text: str, values: Sequence[str], side: int) -> list[str]:
        pieces: list[str] = []
        at = 0
        for one, value in zip(self.ranges, values, strict=True):
            pieces += (text[at : one[side]], value)
            at = one[side + 1]
        return [*pieces, text[at:]]


def _moved(starts: list[int], ranges: Ranges, offset: int, side: int, other: int, *, end: bool) -> int:
    # An exclusive end belongs to the range before it, any other offset to the range that starts there.
    number = bisect_right(starts, offset - 1 if end else offset) - 1
    if number < 0:
        return offset
    one = ranges[number]
    if offset >= one[side + 1]:
        return offset - one[side + 1] + one[other + 1]
    if offset == one[side] and not end:
        return one[other]
    return one[other + 1] if end else one[other]
