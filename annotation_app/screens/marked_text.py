"""A text with its spans, to be read and not edited, as HTML in which nothing of the text can act."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html import escape

from annotation_app.documents.document import Document, Mark

_LINES = {"high": "solid", "low": "dashed", None: "dotted"}


def marked_text(document: Document, colours: Mapping[str, str], emphasised: Collection[str] = (), *, question: bool = True) -> str:
    """Question and context of *document* as HTML; spans whose ids are in *emphasised* (they differ elsewhere) stand out."""
    pieces: list[str] = []
    position = 0
    for mark in document.marks:
        pieces.append(escape(document.context[position : mark.start]))
        pieces.append(_marked(document.context[mark.start : mark.end], mark, colours, strong=mark.id in emphasised))
        position = mark.end
    pieces.append(escape(document.context[position:]))
    asked = escape(document.question or "") if question else ""
    above = f'<p dir="auto" style="font-weight: 600; margin: 0 0 0.6rem; max-width: 75ch">{asked}</p>' if asked else ""
    return f'{above}<p dir="auto" style="white-space: pre-wrap; line-height: 1.9; margin: 0; max-width: 75ch">{"".join(pieces)}</p>'


def _marked(text: str, mark: Mark, colours: Mapping[str, str], *, strong: bool) -> str:
    colour = colours.get(mark.entity_type, "#888888")
    ground = 30 if strong else 12
    frame = f"outline: 2px solid {colour}; outline-offset: 0; " if strong else ""
    label = f"{mark.entity_type} {mark.relevance or '–'}"
    title = f"{mark.entity_type}, {mark.relevance or 'no'} relevance" + (", differs" if strong else "")
    style = (
        f"background: color-mix(in srgb, {colour} {ground}%, transparent); {frame}"
        f"border-bottom: 2px {_LINES[mark.relevance]} {colour}; border-radius: 3px 3px 0 0; padding: 0.1em 0.15em"
    )
    small = f"color: color-mix(in srgb, {colour} 70%, currentColor); font-size: 0.68em; font-weight: 600; white-space: nowrap"
    return f'<span title="{escape(title, quote=True)}" style="{style}">{escape(text)}<span style="{small}"> {escape(label)}</span></span>'
