"""What a reader gives: documents, and rows that are none."""

from __future__ import annotations

from typing import NamedTuple


class Document(NamedTuple):
    """One text of the input.

    ``id`` is the row's own, ``given_id``, or made of file and line; ids may repeat. ``line`` is None if the file is one document.
    """

    id: str
    text: str
    locale: str
    question: str | None
    file: str
    line: int | None
    given_id: str | None = None
    group_keys: tuple[str, ...] = ()


class Refused(NamedTuple):
    """A row, or a file of a folder, that is no document, and why. ``row`` is the unchanged row, "" for a file."""

    file: str
    line: int | None
    reason: str
    row: str

    @property
    def where(self) -> str:
        """File and line."""
        return self.file if self.line is None else f"{self.file}:{self.line}"
