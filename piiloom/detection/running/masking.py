"""Masked texts: something else in the place of each span.

- ``type``: its type, ``<NAME>``; ``subtype``: its type in the catalogue, ``<PL_PESEL>``;
- ``numbered``: its type and a number, ``[NAME_1]``, as the format ``masked`` has it: equal values of a document share it;
- ``char``: each character is another one, so that lengths and offsets stay.

A value that the question tells is replaced there, too, if it stands as a whole word exactly as in the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.masked import masked_variant, numbered_placeholders, placeholder_label
from piiloom.corpus.record import Record, Span
from piiloom.foundation.errors import UsageError

MaskStyle = Literal["type", "subtype", "numbered", "char"]
BLOCK: Final = "█"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """How to mask. Raises ``UsageError`` if ``character`` is not one."""

    style: MaskStyle
    character: str = BLOCK

    def __post_init__(self) -> None:
        if len(self.character) != 1 or not self.character.isprintable():
            raise UsageError("this is not one printable character", where="--mask-char", remedy="Give one, such as X")

    def row(self, record: Record) -> Json:
        """Return the row of the masked file: text and question without the values, and the spans of what stands in their places."""
        match self.style:
            case "numbered":
                words = numbered_placeholders(record)
            case "char":
                words = [self.character * (span.end - span.start) for span in record.spans]
            case style:
                words = [f"<{placeholder_label(_name(span, style))}>" for span in record.spans]
        made = masked_variant(record, words)
        return {"id": record.id, "locale": record.locale, **made, "mask": self.style}


def _name(span: Span, style: str) -> str:
    return span.subtype if style == "subtype" and span.subtype is not None else span.entity_type
