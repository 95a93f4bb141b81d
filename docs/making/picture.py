"""docs/images/one-text-two-questions.svg: two records of ``make demo`` that share a text, drawn one above the other.

The letters are of one width, and each stretch of text says how long it is, so that boxes fit whatever font a reader has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

import piiloom
from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records

# The settings of `make demo`, and which of its records are shown (places in the plan).
SAMPLES, SEED, SHOWN = 200, 7, (114, 115)
COLUMNS, LETTER, LINE, MARGIN = 78, 8.4, 26, 28
WIDTH = int(COLUMNS * LETTER + 2 * MARGIN)
_FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
_BOXES = {"high": 'fill="#ffd166" stroke="#b7791f"', "low": 'fill="#ffffff" stroke="#8792a2" stroke-dasharray="4 3"'}
_LEGEND = (("high", "high: the answer needs it"), ("low", "low: it can go"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of text on one line, from *column* on; *relevance* is that of the span it belongs to, None outside of spans."""

    line: int
    column: int
    text: str
    relevance: str | None


def demo_records() -> tuple[Record, ...]:
    """The records of ``make demo`` that the picture and README show."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "demo.duckdb"
        piiloom.generate(samples=SAMPLES, seed=SEED, store=path)
        with Store.open(path, create=False) as store:
            records = list(iter_records(store))
    return tuple(records[place] for place in SHOWN)


def picture() -> str:
    """The picture as SVG."""
    parts: list[str] = []
    top = 16
    for record in demo_records():
        assert record.question is not None
        lines = list(pieces(record))
        height = (lines[-1].line + 1) * LINE
        parts += [_text(MARGIN, top + 26, record.question, 'font-weight="700" fill="#1a365d"'), *_drawn(lines, top + 60)]
        top += height + 84
        parts.append(f'<line x1="{MARGIN}" y1="{top - 20}" x2="{WIDTH - MARGIN}" y2="{top - 20}" stroke="#d6dbe3"/>')
    at = float(MARGIN)
    for relevance, said in _LEGEND:
        parts += [_box(at, top + 14, len(said) * LETTER, relevance), _text(at, top + 14, said, 'fill="#1f2933"')]
        at += (len(said) + 4) * LETTER
    frame = f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{top + 39}" rx="10" fill="#ffffff" stroke="#d6dbe3"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top + 40}" font-family="{_FONT}" font-size="14">'
    title = "<title>One text with two questions: what is high for one is low for the other</title>"
    return "\n".join((head, title, frame, *parts, "</svg>")) + "\n"


def pieces(record: Record) -> Iterator[Piece]:
    """The text of *record*, wrapped at blanks and cut at the ends of spans."""
    ends = sorted({0, len(record.context), *(edge for span in record.spans for edge in (span.start, span.end))})
    line = column = 0
    for start, end in pairwise(ends):
        relevance = next((span.relevance for span in record.spans if span.start == start), None)
        begin, text = column, ""
        for word in _words(record.context, start, end):
            if column + len(word.rstrip()) > COLUMNS:
                yield Piece(line=line, column=begin, text=text, relevance=relevance)
                line, column, begin, text, word = line + 1, 0, 0, "", word.lstrip()  # noqa: PLW2901 - a line begins without a blank
            text += word
            column += len(word)
        yield Piece(line=line, column=begin, text=text, relevance=relevance)


def _words(text: str, start: int, end: int) -> Iterator[str]:
    """The words of ``text[start:end]``, each with the blank after it."""
    while start < end:
        blank = text.find(" ", start, end)
        stop = end if blank < 0 else blank + 1
        yield text[start:stop]
        start = stop


def _drawn(lines: list[Piece], top: int) -> Iterator[str]:
    for piece in lines:
        text = piece.text.strip()
        if not text:
            continue
        column = piece.column + len(piece.text) - len(piece.text.lstrip())
        x, y = MARGIN + column * LETTER, top + piece.line * LINE
        if piece.relevance:
            yield _box(x, y, len(text) * LETTER, piece.relevance)
        yield _text(x, y, text, 'fill="#1f2933"')


def _box(x: float, y: float, width: float, relevance: str) -> str:
    return f'<rect x="{x - 3:.1f}" y="{y - 15:.1f}" width="{width + 6:.1f}" height="20" rx="4" {_BOXES[relevance]}/>'


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" textLength="{len(text) * LETTER:.1f}" xml:space="preserve" {style}>{escape(text)}</text>'
