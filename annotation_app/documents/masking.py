"""The context as a question-answering system would get it: what is of low relevance is replaced by the name of its type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from piiloom.annotation_app.documents.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of the preview. ``span`` is the mark it stands for, ``masked`` whether a name has taken its text's place."""

    text: str
    span: str | None = None
    masked: bool = False

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {"text": self.text, "span": self.span, "masked": self.masked}


def masked(document: Document) -> str:
    """The context with spans of low relevance shown as ``[TYPE]``; all others stay readable."""
    return "".join(piece.text for piece in masked_pieces(document))


def masked_pieces(document: Document) -> list[Piece]:
    """The pieces that ``masked`` joins, in order, none of them empty."""
    pieces: list[Piece] = []
    position = 0
    for mark in document.marks:
        pieces.append(Piece(text=document.context[position : mark.start]))
        hidden = mark.relevance == "low"
        text = f"[{mark.entity_type.upper()}]" if hidden else document.context[mark.start : mark.end]
        pieces.append(Piece(text=text, span=mark.id, masked=hidden))
        position = mark.end
    pieces.append(Piece(text=document.context[position:]))
    return [piece for piece in pieces if piece.text]
