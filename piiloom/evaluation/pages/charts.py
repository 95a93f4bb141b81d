"""Charts as inline SVG: stacked bars, columns, step lines, bars from a base line, a heat map. Each function returns an ``svg`` element.

Charts have no colors of their own: marks have classes, and the page's style sheet gives these the colors of the theme.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from piiloom.evaluation.pages.tables import ReportTable, as_decimal, as_percent, count, short

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
