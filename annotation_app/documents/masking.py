"""Preview of the context as a question-answering system would get it: spans of low relevance are replaced by their type name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from piiloom.annotation_app.documents.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of the preview. ``span`` is the id of its mark, if any; ``masked`` tells whether its text was replaced by the type name."""

    text: str
    span: str | None = None
    masked: bool = False

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {"text": self.text, "span": self.span, "masked": self.masked}


def masked(document: Document) -> str:
    """Return the context with each span of low relevance replaced by ``[TYPE]``; all other text is kept."""
    return "".join(piece.text for piece in masked_pieces(document))


def masked_pieces(document: Document) -> list[Piece]:
    """Return the non-empty pieces of the preview, in text order."""
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
