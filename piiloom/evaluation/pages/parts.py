"""Parts of pages: figures as text for people to read, tables of them, charts as inline SVG, and the page that a template makes of these.

A cell with text of the corpus or of the user is a ``Quoted``: the renderer must escape it, so that no markup in it takes effect.

Charts have no colors of their own: marks have classes, and the page's style sheet gives these the colors of the theme.

The policy of a page allows its own script and style sheet by their hashes and no other resource: what a text of the corpus might
smuggle in would not run, and nothing is fetched.
"""

from __future__ import annotations

import math
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from piiloom.foundation.version import __version__
from piiloom.foundation.words import escaped, pipe_table

NOTHING = "–"
# Longer names of types are cut in labels, which stay on one line.
LABEL = 28
# Control characters and lone surrogates, which HTML cannot hold. One stands for one, so that offsets stay.
_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class Quoted(str):
    """Text that piiloom did not write, which must be escaped when it is rendered."""

    __slots__ = ()


def short(text: str, limit: int = 48) -> str:
    """Return *text*, cut to *limit* characters with "…" at the end if it is longer."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def printable(text: str) -> str:
    """Return *text* with U+FFFD in the place of characters that a page cannot hold."""
    return _UNSHOWN.sub("\ufffd", text)


def count(number: int | None) -> str:
    """``1,234``."""
    return NOTHING if number is None else f"{number:,}"


def as_percent(share: float | None) -> str:
    """``12.3%``, with two places below one percent."""
    if share is None:
        return NOTHING
    return f"{100 * share:.2f}%" if 0 < share < 0.00995 else f"{100 * share:.1f}%"


def as_decimal(value: float | None) -> str:
    """``0.581``."""
    return NOTHING if value is None else f"{value:.3f}"


def with_share(number: int, share: float | None) -> str:
    """``3 (1.5%)``."""
    return f"{count(number)} ({as_percent(share)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table with a note on how to read it. The first ``texts`` columns hold text, the others figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    texts: int = 1

    def markdown(self) -> str:
        """Return the table in Markdown with its title and note, its quoted cells escaped."""
        rows = [[escaped(cell) if isinstance(cell, Quoted) else cell for cell in row] for row in self.rows]
        parts = [f"## {self.title}", pipe_table(self.columns, rows, range(self.texts)), *([self.note] if self.note else [])]
        return "\n\n".join(parts)


# All charts are drawn this wide and scaled by the page; at a phone's width that is still readable.
WIDTH = 380
_STEPS = (1, 2, 2.5, 5, 10)
_LABELS = 108  # width of the labels on the left
_LABEL_CHARACTERS = 18
_ROW = 21
_BAR = 13
_HEIGHT = 184  # of charts with an upright axis
_PLOT = (40, 24, 8, 34)  # room at the left, top, right and bottom of these


def element(name: str, attributes: Mapping[str, object], *children: str) -> Markup:
    """Return an SVG element; attribute values and *children* are escaped unless they are ``Markup``."""
    inner = Markup("").join(children)
    told = "".join(f' {key}="{escape(_plain(value))}"' for key, value in attributes.items())
    return Markup(f"<{name}{told}>{inner}</{name}>")  # noqa: S704 - all parts are escaped


def text(x: float, y: float, content: str, *, kind: str = "", anchor: str = "start") -> Markup:
    """Return a line of text at a baseline. *anchor*: which part of it is at *x* (start, middle, end)."""
    return element("text", {"x": x, "y": y, "text-anchor": anchor, **({"class": kind} if kind else {})}, content)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    """Return a straight line."""
    return element("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": kind})


def rectangle(x: float, y: float, width: float, height: float, kind: str, told: str) -> Markup:
    """Return a rectangle that tells *told* when pointed at."""
    return element("rect", {"x": x, "y": y, "width": width, "height": height, "class": kind}, element("title", {}, told))


def drawing(height: float, label: str, marks: Iterable[Markup]) -> Markup:
    """Return the ``svg`` element around *marks*; *label* is what it is called for those who do not see it."""
    box = f"0 0 {WIDTH} {_plain(height)}"
    return element("svg", {"viewBox": box, "role": "img", "aria-label": label, "class": "chart"}, *marks)


def ticks(highest: float, about: int = 4) -> list[float]:
    """Return round numbers from 0 to the first one that is not below *highest*; whole ones if *highest* is 1 or more."""
    if highest <= 0:
        return [0.0, 1.0]
    raw = highest / about
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * each for each in _STEPS if power * each >= raw * 0.999)
    if highest >= 1 and step < 1:
        step = 1.0
    return [step * number for number in range(math.ceil(highest / step - 1e-9) + 1)]


def _plain(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What the marks of one class stand for."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart with its title, a note on how to read it, a legend (series) and the same numbers as a table."""

    name: str
    title: str
    note: str
    svg: Markup
    table: ReportTable
    legend: tuple[Series, ...] = ()


def stacked_bars(label: str, rows: Sequence[tuple[str, Sequence[int]]], series: Sequence[Series], unit: str) -> Markup:
    """Draw a bar for each row (name, one number per series), with the total at its end."""
    scale = ticks(max((sum(numbers) for _, numbers in rows), default=0))
    left, right, bottom = _LABELS, WIDTH - 36, 16 + _ROW * len(rows)

    def at(value: float) -> float:
        return left + (right - left) * value / scale[-1]

    marks = [line(at(tick), 14, at(tick), bottom, "grid") for tick in scale]
    marks += [text(at(tick), 10, _number(tick), kind="tick", anchor="middle") for tick in scale]
    marks.append(text(left - 14, 10, unit, kind="axis", anchor="end"))
    for place, (name, numbers) in enumerate(rows):
        top, start = 16 + _ROW * place + (_ROW - _BAR) / 2, 0
        marks.append(_row_name(name, top + 10))
        for each, number in zip(series, numbers, strict=True):
            if number:
                told = f"{name}, {each.name}: {count(number)} {unit}"
                marks.append(rectangle(at(start), top, at(start + number) - at(start), _BAR, each.kind, told))
            start += number
        marks.append(text(at(start) + 4, top + 10, count(start), kind="value"))
    return drawing(bottom + 4, label, marks)


def column_chart(label: str, bars: Sequence[tuple[str, int]], across: str, unit: str, *, edges: bool) -> Markup:
    """Draw a column for each (name, number); *across* names the axis at the bottom. With *edges*, a name stands where its column begins."""
    left, top, right, bottom = _PLOT
    scale = ticks(max((number for _, number in bars), default=0))
    step = (WIDTH - left - right) / max(1, len(bars))
    marks = _upright(scale, _number, unit)
    every = -(-max((len(name) for name, _ in bars), default=1) * 6 * len(bars) // (WIDTH - left - right))  # so that names do not touch
    for place, (name, number) in enumerate(bars):
        height = (_HEIGHT - top - bottom) * number / scale[-1]
        x = left + step * place
        if number:
            told = f"{name} {across}: {count(number)} {unit}"
            marks.append(rectangle(x + 0.75, _HEIGHT - bottom - height, step - 1.5, height, "bar", told))
        if place % max(1, every) == 0:
            marks.append(text(x + (0 if edges else step / 2), _HEIGHT - bottom + 13, name, kind="tick", anchor="middle"))
    marks.append(text(left + (WIDTH - left - right) / 2, _HEIGHT - 4, across, kind="axis", anchor="middle"))
    return drawing(_HEIGHT, label, marks)


def step_lines(label: str, names: Sequence[str], lines: Sequence[tuple[Series, Sequence[float]]], across: str, even: float) -> Markup:
    """Draw shares (fractions of 1) of each series as steps, and a line at *even*; a name of *names* stands where its step begins."""
    left, top, right, bottom = _PLOT
    scale = ticks(max(even, *(value for _, values in lines for value in values)))
    step = (WIDTH - left - right) / len(names)

    def up(value: float) -> float:
        return _HEIGHT - bottom - (_HEIGHT - top - bottom) * value / scale[-1]

    marks = _upright(scale, lambda tick: f"{100 * tick:g}%", "share")
    marks.append(line(left, up(even), WIDTH - right, up(even), "even"))
    for series, values in lines:
        corners = [f"{left + step * (place + side):.1f},{up(value):.1f}" for place, value in enumerate(values) for side in (0, 1)]
        told = f"{series.name}: " + ", ".join(f"{name} {as_percent(value)}" for name, value in zip(names, values, strict=True))
        marks.append(element("polyline", {"points": " ".join(corners), "class": f"step {series.kind}"}, element("title", {}, told)))
    for place, name in enumerate(names):
        marks.append(text(left + step * place, _HEIGHT - bottom + 13, name, kind="tick", anchor="middle"))
    marks.append(text(left + (WIDTH - left - right) / 2, _HEIGHT - 4, across, kind="axis", anchor="middle"))
    return drawing(_HEIGHT, label, marks)


def bars_from_base(label: str, rows: Sequence[tuple[str, float, float | None]], base: float, most: float) -> Markup:
    """Draw a bar from *base* to each row's value (name, value, second value); the second value is a tick across the bar."""
    left, right, row = 4, WIDTH - 44, 36
    bottom = 18 + row * len(rows)

    def at(value: float) -> float:
        return left + (right - left) * (max(base, value) - base) / (most - base)

    scale = [base + (most - base) * number / 5 for number in range(6)]
    marks = [line(at(tick), 16, at(tick), bottom, "grid") for tick in scale]
    marks += [text(at(tick), 11, f"{tick:.1f}", kind="tick", anchor="start" if tick == base else "middle") for tick in scale]
    for place, (name, value, second) in enumerate(rows):
        top = 18 + row * place
        marks.append(text(left, top + 12, name, kind="name"))
        if value > base:
            marks.append(rectangle(left, top + 17, at(value) - left, _BAR, "bar", f"{name}: {as_decimal(value)}"))
        marks.append(text(at(value) + 5, top + 27, as_decimal(value), kind="value"))
        if second is not None:
            marks.append(line(at(second), top + 14, at(second), top + 33, "mark"))
    return drawing(bottom + 2, label, marks)


def heat_map(label: str, names: Sequence[str], numbers: dict[tuple[str, str], int], unit: str) -> Markup:
    """Draw the numbers of unordered pairs of *names* (each is under one order of its key) as a lower triangle."""
    side = (WIDTH - _LABELS - 2) / max(1, len(names) - 1)
    side = min(side, 34)
    top, highest = 4, max(numbers.values(), default=1)
    marks = []
    for row, second in enumerate(names[1:], start=1):
        y = top + side * (row - 1)
        marks.append(_row_name(second, y + side / 2 + 4))
        for column, first in enumerate(names[:row]):
            number = numbers.get((first, second)) or numbers.get((second, first), 0)
            x, share = _LABELS + side * column, number / highest
            told = f"{first} and {second}: {count(number)} {unit}"
            cell: dict[str, object] = {
                "x": x + 0.75,
                "y": y + 0.75,
                "width": side - 1.5,
                "height": side - 1.5,
                "class": "cell" if number else "cell none",
            }
            cell |= {"fill-opacity": f"{0.1 + 0.9 * share:.2f}"} if number else {}
            marks.append(element("rect", cell, element("title", {}, told)))
            shown = count(number) if number < 1000 else f"{number / 1000:.0f}k"
            marks.append(text(x + side / 2, y + side / 2 + 3.5, shown, kind="in strong" if share > 0.6 else "in", anchor="middle"))
    bottom = top + side * (len(names) - 1)
    for column, name in enumerate(names[:-1]):
        x = _LABELS + side * (column + 0.5) + 3
        turned = {"class": "name", "text-anchor": "end", "transform": f"translate({x:.1f} {bottom + 8:.1f}) rotate(-60)"}
        marks.append(element("text", turned, short(name, _LABEL_CHARACTERS)))
    return drawing(bottom + 98, label, marks)


def _row_name(name: str, y: float) -> Markup:
    cut = short(name, _LABEL_CHARACTERS)
    attributes = {"x": _LABELS - 6, "y": y, "text-anchor": "end", "class": "name"}
    return element("text", attributes, cut, *([element("title", {}, name)] if cut != name else []))


def _upright(scale: Sequence[float], written: Callable[[float], str], unit: str) -> list[Markup]:
    left, top, right, bottom = _PLOT
    marks = [text(0, top - 14, unit, kind="axis")]
    for tick in scale:
        y = _HEIGHT - bottom - (_HEIGHT - top - bottom) * tick / scale[-1]
        marks.append(line(left, y, WIDTH - right, y, "grid"))
        marks.append(text(left - 5, y + 3.5, written(tick), kind="tick", anchor="end"))
    return marks


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


Shown = dict[str, Any]  # what a template lays out, by name


def render_page(package: str, page: object, *, script: str, style: str | None = None) -> str:
    """Return the template ``page.html.j2`` of *package* as HTML.

    It extends ``frame.html.j2`` and lays out *page*. *script* and *style* are its own script and style sheet, beside it in the folder
    ``templates``; they follow the shared ones.
    """
    styled = _asset(__package__, "page.css") + (_asset(package, style) if style is not None else "")
    scripts = _asset(__package__, "theme.js") + _asset(package, script)
    return _filled(package, "page.html.j2", styled, scripts, page=page, piiloom=__version__)


def render_table(template: str, style: str, table: object) -> str:
    """Return *template* of this package with *table* as HTML; the page runs no script."""
    return _filled(__package__, template, _asset(__package__, style), table=table)


def _filled(package: str, template: str, style: str, script: str = "", **variables: object) -> str:
    scripts = f" script-src '{_digest(script)}';" if script else ""
    policy = f"default-src 'none'; style-src '{_digest(style)}';{scripts} base-uri 'none'; form-action 'none'"
    marked = {"style": Markup(style), "script": Markup(script)}  # noqa: S704 - our own files
    return _environment(package).get_template(template).render(policy=policy, **marked, **variables)


@cache
def _asset(package: str, name: str) -> str:
    return (files(package) / "templates" / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return "sha256-" + b64encode(sha256(content.encode()).digest()).decode()


@cache
def _environment(package: str) -> Environment:
    loader = ChoiceLoader([PackageLoader(package), PackageLoader(__package__)])
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {"visible": printable, "capfirst": lambda text: text[:1].upper() + text[1:]}
    return made
