"""Small helpers for charts as inline SVG: elements with escaped text, text anchors, ticks at round numbers.

Charts have no colors of their own: marks have classes, and the page's style sheet gives these the colors of the theme.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from markupsafe import Markup, escape

# All charts are drawn this wide and scaled by the page; at a phone's width that is still readable.
WIDTH = 380
_STEPS = (1, 2, 2.5, 5, 10)


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
