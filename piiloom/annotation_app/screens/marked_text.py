"""Read-only HTML of a text and its spans. All that comes from the text is escaped."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise

from piiloom.annotation_app.adjudication.differing import Differing
from piiloom.annotation_app.documents.document import Document, Mark
from piiloom.foundation.words import Range

_LINES = {"high": "solid", "low": "dashed", None: "dotted"}
_ALIKE = Differing()
# In a folded text, this many characters around each difference stay open, and gaps shorter than the second number are not folded.
_AROUND, _LEAST_FOLDED = 240, 900
_DIFFERS = "background: color-mix(in srgb, #e8b500 32%, transparent); box-shadow: 0 2px 0 #b98900; border-radius: 2px"
_MISSING = f'<span title="others have words here" style="{_DIFFERS}">[…]</span>'
_LACKS = "outline: 1.5px dotted currentColor; outline-offset: 1px; border-radius: 2px"
_FOLD = "display: block; margin: 0.3rem 0; padding-left: 0.6rem; border-left: 3px solid color-mix(in srgb, currentColor 20%, transparent)"


def marked_text(
    document: Document, colours: Mapping[str, str], apart: Differing = _ALIKE, *, question: bool = True, folded: bool = False
) -> str:
    """Return question and context of *document* as HTML, with the differences from other versions (*apart*) highlighted.

    *colours* are CSS colors by type. *question* False leaves the question out. *folded*: long stretches without differences are closed
    until somebody opens them.
    """
    text = (document.question or "") if question else ""
    asked = _worded(text, (0, len(text)), apart.question if question else (), last=True)
    above = f'<p dir="auto" style="font-weight: 600; margin: 0 0 0.6rem; max-width: 75ch">{asked}</p>' if asked else ""
    pieces = []
    for start, end, is_open in _stretches(document, apart) if folded else [(0, len(document.context), True)]:
        shown = "".join(_pieces(document, start, end, colours, apart))
        pieces.append(shown if is_open else _fold(shown, document.context[start:end]))
    return f'{above}<div dir="auto" style="white-space: pre-wrap; line-height: 1.9; max-width: 75ch">{"".join(pieces)}</div>'


def _pieces(document: Document, start: int, end: int, colours: Mapping[str, str], apart: Differing) -> Iterator[str]:
    text, position = document.context, start
    for mark in document.marks:
        if start <= mark.start < end:
            yield _worded(text, (position, mark.start), apart.context, apart.lacking)
            yield _marked(_worded(text, (mark.start, mark.end), apart.context), mark, colours, strong=mark.id in apart.spans)
            position = mark.end
    yield _worded(text, (position, end), apart.context, apart.lacking, last=end == len(text))


def _worded(text: str, among: Range, differing: Sequence[Range], lacking: Sequence[Range] = (), *, last: bool = False) -> str:
    """Return ``text[slice(*among)]`` as HTML, with the parts of *differing* and *lacking* in it highlighted.

    An empty range of *differing* stands for words missing here. One at the end of *among* is shown only if *last* is set; otherwise the
    next piece shows it.
    """
    start, end = among
    missing = {first for first, behind in differing if first == behind and (start <= first < end or (last and first == end))}
    cuts = {point for place in (*differing, *lacking) for point in place if start < point < end}
    points = sorted({start, *cuts, end})
    pieces = []
    for left, right in pairwise(points):
        pieces += [_MISSING] * (left in missing)
        words = escape(text[left:right])
        if _covers(differing, left):
            words = f'<span title="words differ" style="{_DIFFERS}">{words}</span>'
        if _covers(lacking, left):
            words = f'<span title="others have a span here" style="{_LACKS}">{words}</span>'
        pieces.append(words)
    return "".join((*pieces, _MISSING * (last and end in missing)))


def _covers(ranges: Sequence[Range], point: int) -> bool:
    return any(start <= point < end for start, end in ranges)


def _stretches(document: Document, apart: Differing) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, whether it is open) for each piece of the context, in order. No span is split."""
    text = document.context
    places = [(0, 0), *apart.context, *apart.lacking, *((mark.start, mark.end) for mark in document.marks if mark.id in apart.spans)]
    position = 0
    for start, end in _windows(text, places, document.marks):
        if start - position >= _LEAST_FOLDED:
            yield position, start, False
            position = start
        yield position, end, True
        position = end
    if position < len(text):
        yield position, len(text), len(text) - position < _LEAST_FOLDED


def _windows(text: str, places: Collection[Range], marks: Sequence[Mark]) -> list[Range]:
    windows: list[Range] = []
    for first, behind in sorted(places):
        start, end = max(0, first - _AROUND), min(len(text), behind + _AROUND)
        start, blank = text.rfind(" ", 0, start) + 1, text.find(" ", end)
        end = blank if blank >= 0 else len(text)
        for mark in marks:
            start = mark.start if mark.start < start < mark.end else start
            end = mark.end if mark.start < end < mark.end else end
        if windows and start - windows[-1][1] < _LEAST_FOLDED:
            windows[-1] = (windows[-1][0], max(end, windows[-1][1]))
        else:
            windows.append((start, end))
    return windows


def _fold(shown: str, text: str) -> str:
    words = len(re.findall(r"\S+", text))
    summary = f'<summary style="cursor: pointer; opacity: 0.7; font-size: 0.9em">{words:,} words that are alike</summary>'
    return f'<details style="{_FOLD}">{summary}{shown}</details>'


def _marked(words: str, mark: Mark, colours: Mapping[str, str], *, strong: bool) -> str:
    """Return *words* (HTML) wrapped in the markup of the span *mark*."""
    colour = colours.get(mark.entity_type, "#888888")
    ground = 30 if strong else 12
    frame = f"outline: 2px solid {colour}; outline-offset: 0; " if strong else ""
    label = f"{mark.entity_type} {mark.relevance or '–'}"
    title = f"{mark.entity_type}, {mark.relevance or 'no'} relevance" + (", differs" if strong else "")
    style = (
        f"background: color-mix(in srgb, {colour} {ground}%, transparent); {frame}"
        f"border-bottom: 2px {_LINES[mark.relevance]} {colour}; border-radius: 3px 3px 0 0; padding: 0.1em 0.15em; "
        "-webkit-box-decoration-break: clone; box-decoration-break: clone"
    )
    small = (
        f"color: color-mix(in srgb, {colour} 50%, currentColor); font-size: 0.68em; font-weight: 600; white-space: nowrap; "
        "direction: ltr; unicode-bidi: isolate; padding-inline-end: 0.3em"
    )
    # Both are isolated, so that a Latin name in Hebrew keeps its label at its side.
    shown = f'{words}<span style="{small}"> {escape(label)}</span>'
    return f'<span dir="auto" title="{escape(title, quote=True)}" style="{style}">{shown}</span>'
