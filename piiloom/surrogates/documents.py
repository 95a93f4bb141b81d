"""The engine's input (``Document``) and output (``Replaced``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from piiloom.surrogates.mentions import Mention


class Document(NamedTuple):
    """One text. ``number`` is its position in the input (0-based), ``ordinal`` the number of documents of the same text before it.

    ``mentions`` is set if the input brought spans; if None, the finder looks for placeholders in the text. ``question_at``: where the
    question about the text begins, which is at its end (``inputs.questions``). ``lines_apart``: a surrogate cannot go over a line's end.
    ``covered`` are given spans that others cover: they are not replaced, but their values are known.
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
