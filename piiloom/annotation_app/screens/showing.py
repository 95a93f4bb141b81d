"""Free text on the pages: escaped for Markdown, in tables without formulas, in lists of files, and as marked text.

The browser can save and copy tables, so no cell may be a formula for a spreadsheet: names and texts are people's own. A cell that a
spreadsheet would compute begins with an apostrophe, on the screen too. Lists of files are HTML tables, since the keyboard cannot reach
the links in Streamlit's own. All that comes from a marked text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any, Final

import streamlit as st

from piiloom.annotation_app.adjudication.versions import Differing
from piiloom.annotation_app.documents.document import EditedDocument, SpanMark
from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.words import Range

_MEANING: Final = frozenset("\\`*_{}[]<>()#+-.!|~$:^&=/@")
# What Streamlit replaces after the backslashes are gone: URLs, its own logo, arrows and dashes made of signs.
_FOUND_LATER: Final = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)|(?<=:)(?=streamlit:)|(?<=[-<>=~!])(?=[-<>=~])", re.IGNORECASE)
# Word joiner: invisible, allows no line break, and splits what would be replaced.
_JOINER: Final = "\u2060"


def escape_markdown(text: str) -> str:
    r"""Return *text* on one line, escaped so that Markdown shows it literally.

    Each sign that could mean something gets a backslash. Where that does not help, an invisible sign (U+2060) is inserted, so do not use
    this for text that somebody may want to copy.
    """
    parted = _FOUND_LATER.sub(_JOINER, " ".join(text.split()))
    return "".join(f"\\{sign}" if sign in _MEANING else sign for sign in parted)


def show_error(error: PiiloomError) -> None:
    """Show *error* as a warning. It is escaped, since it may quote a name or an id that somebody chose."""
    st.warning(escape_markdown(str(error)))


_SIGNS: Final = "=+\\-@＝＋－＠"
# At the beginning, also behind blanks and control characters; and behind a semicolon or a tab, at which some spreadsheets split a line.
_RISKY: Final = re.compile(rf"(?:\A|(?<=[;\t\r\n]))(?=[\s\x00-\x1f]*[{_SIGNS}])|\A(?=[\t\r\n])")
# Numbers and the dash that stands for none are no formulas.
_HARMLESS: Final = re.compile(r"[+-]?\d[\d.,\s]*%?|[+-]")


def safe_cell(value: Any) -> Any:
    """Return *value* for a table: text that a spreadsheet would take for a formula begins with an apostrophe. Lists are gone through."""
    if isinstance(value, str):
        return value if _HARMLESS.fullmatch(value) else _RISKY.sub("'", value)
    if isinstance(value, list | tuple):
        return [safe_cell(one) for one in value]
    return value


def safe_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return *rows* with safe cells and column names, for a table or for a chart, whose data the browser can save as well."""
    return [{str(safe_cell(name)): safe_cell(value) for name, value in row.items()} for row in rows]


def show_bars(rows: Sequence[Mapping[str, Any]], otherwise: str = "", *, height: int = 260, **settings: Any) -> None:
    """Show *rows* as bars, or the text *otherwise* if there are none; *settings* are those of ``st.bar_chart``."""
    if rows or not otherwise:
        st.bar_chart(safe_rows(rows), height=height, x_label="", y_label="", **settings)
    else:
        st.text(otherwise)


def show_metrics(*metrics: tuple[str, str] | tuple[str, str, str]) -> None:
    """Show numbers side by side, each with its label and, if there is one, a help text."""
    for column, (label, value, *told) in zip(st.columns(len(metrics)), metrics, strict=True):
        column.metric(label, value, help=told[0] if told else None)


def show_table(rows: Sequence[Mapping[str, Any]], **settings: Any) -> Any:
    """Show *rows* in the width of the page, without an index; *settings* and the result are those of ``st.dataframe``."""
    return st.dataframe(safe_rows(rows), hide_index=True, width="stretch", **settings)


_STYLE = """<style>
.piiloom-files { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
.piiloom-files th { text-align: left; font-weight: 600; opacity: 0.75; }
.piiloom-files th, .piiloom-files td { padding: 0.35rem 0.9rem 0.35rem 0; border-bottom: 1px solid
  color-mix(in srgb, currentColor 18%, transparent); overflow-wrap: anywhere; }
.piiloom-files .n { padding-right: 1.6rem; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.piiloom-files a { color: inherit; text-underline-offset: 0.2em; }
.piiloom-files a:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
</style>"""


def show_files(columns: Sequence[str], rows: Sequence[tuple[str, str, Sequence[str | int]]]) -> None:
    """Show a table. Each row is (link text, URL, further cells); cells with integers are right-aligned."""
    head = "".join(f"<th{_kind(rows[0][2][n - 1]) if n else ''}>{escape(name)}</th>" for n, name in enumerate(columns))
    body = "".join(
        f'<tr><td><a href="{escape(link)}" download>{escape(words)}</a></td>{"".join(map(_cell, cells))}</tr>'
        for words, link, cells in rows
    )
    st.html(f'{_STYLE}<table class="piiloom-files"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')


def file_size(count: int) -> str:
    """Format a number of bytes as kB or MB."""
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{max(1, round(count / 1e3)):,} kB"


def _cell(value: str | int) -> str:
    return f"<td{_kind(value)}>{escape(f'{value:,}' if isinstance(value, int) else value)}</td>"


def _kind(value: str | int) -> str:
    return ' class="n"' if isinstance(value, int) else ""


_LINES = {"high": "solid", "low": "dashed", None: "dotted"}
_ALIKE = Differing()
# In a folded text, this many characters around each difference stay open, and gaps shorter than the second number are not folded.
_AROUND, _LEAST_FOLDED = 240, 900
_DIFFERS = "background: color-mix(in srgb, #e8b500 32%, transparent); box-shadow: 0 2px 0 #b98900; border-radius: 2px"
_MISSING = f'<span title="others have words here" style="{_DIFFERS}">[…]</span>'
_LACKS = "outline: 1.5px dotted currentColor; outline-offset: 1px; border-radius: 2px"
_FOLD = "display: block; margin: 0.3rem 0; padding-left: 0.6rem; border-left: 3px solid color-mix(in srgb, currentColor 20%, transparent)"


def marked_html(
    document: EditedDocument, colours: Mapping[str, str], apart: Differing = _ALIKE, *, question: bool = True, folded: bool = False
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


def _pieces(document: EditedDocument, start: int, end: int, colours: Mapping[str, str], apart: Differing) -> Iterator[str]:
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


def _stretches(document: EditedDocument, apart: Differing) -> Iterator[tuple[int, int, bool]]:
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


def _windows(text: str, places: Collection[Range], marks: Sequence[SpanMark]) -> list[Range]:
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


def _marked(words: str, mark: SpanMark, colours: Mapping[str, str], *, strong: bool) -> str:
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
