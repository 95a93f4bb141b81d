"""Draw plots as PNG and SVG. Needs matplotlib (the extra ``report``); import this module only if plots are wanted.

It uses neither pyplot nor global state: each plot is its own ``Figure``. The same figures give the same bytes (no dates, no random
ids). Labels with text of the corpus are never parsed as math markup.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from piiloom.evaluation.comparison import Comparison, MeasuredRun
from piiloom.evaluation.gallery.counts import CLASSES, DIMENSIONS, TITLES, ErrorCounts, Matrix, matrix, rows_in_classes
from piiloom.evaluation.pages.parts import printable, short
from piiloom.evaluation.scoring.counts import CalibrationFigures
from piiloom.foundation.whole_files import drafted

_DPI = 130
BLUE, ORANGE, GREY = "#3b6ea8", "#d98232", "#b5b5b5"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One plot: its name (also the base name of its files), caption and images."""

    name: str
    caption: str
    png: bytes
    svg: bytes

    def files(self) -> dict[str, bytes]:
        """Return the images by file name."""
        return {f"{self.name}.png": self.png, f"{self.name}.svg": self.svg}


def draw_plot(name: str, caption: str, height: float, fill: Callable[[Figure], None]) -> Plot:
    """Return the plot that *fill* draws on a figure of *height* inches."""
    with _style(), warnings.catch_warnings():
        # Characters missing from the font are drawn as boxes; no warning is needed.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        layout = ConstrainedLayoutEngine()
        figure = Figure(figsize=(8.6, height), layout=layout, dpi=_DPI)
        fill(figure)
        layout.execute(figure)
        figure.set_layout_engine("none")  # each file that is saved would lay it out twice again, which takes as long as drawing
        images = {}
        for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, dpi=_DPI, metadata=metadata)
            images[kind] = buffer.getvalue()
    return Plot(name=name, caption=caption, png=images["png"], svg=images["svg"])


def _style() -> AbstractContextManager[None]:
    return mpl.rc_context(
        {
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 11,
            "axes.titlelocation": "left",
            "svg.hashsalt": "piiloom",  # without it, ids in the file are random
            "text.parse_math": False,  # "$" in a text of the corpus is a dollar
        }
    )


def write_plot(folder: Path, plot: Plot) -> list[Path]:
    """Write *plot* to *folder* as PNG and SVG, and return the files. Raises ``OutputError``."""
    for name, image in plot.files().items():
        with drafted(folder / name) as file:
            file.write(image)
    return [folder / name for name in plot.files()]


_TYPES = 30  # of the matrix
# Colour and hatching of each of CLASSES.
_LOOKS = ((GREY, ""), (ORANGE, "///"), (BLUE, ""), ("white", "..."))
_COLOURS: Final = (BLUE, ORANGE, "#4c9a5b", "#8d5aa8", "#b0413e", "#5f7f7a", "#a8873b", "#777777")


def error_plots(counts: ErrorCounts) -> Iterator[Plot]:
    """Yield ``errors-by-<dimension>`` for each dimension, and ``confusion``."""
    for dimension in DIMENSIONS:
        rows = rows_in_classes(counts, dimension)
        yield draw_plot(f"errors-by-{dimension}", TITLES[dimension], 1.6 + 0.28 * len(rows), partial(_bars, rows=rows))
    if counts.confusion:
        held = matrix(counts, _TYPES)
        yield draw_plot("confusion", "Types confused", 2.2 + 0.3 * len(held.rows), partial(_confusion, held=held))


def _bars(figure: Figure, rows: Sequence[tuple[str, Sequence[int]]]) -> None:
    """Draw a stacked bar for each row, the first at the top."""
    axes = figure.subplots()
    shown = list(rows)[::-1]
    left = [0] * len(shown)
    for place, (name, (colour, hatch)) in enumerate(zip(CLASSES, _LOOKS, strict=True)):
        widths = [numbers[place] for _, numbers in shown]
        axes.barh(range(len(shown)), widths, left=left, color=colour, hatch=hatch, edgecolor="black", linewidth=0.5, label=name)
        left = [before + more for before, more in zip(left, widths, strict=True)]
    axes.set_yticks(range(len(shown)), [short(printable(label), 28) for label, _ in shown])
    axes.margins(x=0.04, y=0.02)
    axes.set_xlabel("mentions")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(loc="outside upper center", ncols=len(CLASSES), frameon=False, fontsize=8)


def _confusion(figure: Figure, held: Matrix) -> None:
    """Draw the matrix, each cell shaded by its share of the row."""
    axes = figure.subplots()
    axes.imshow([[cell.shade for cell in cells] for _, cells in held.rows], cmap="Blues", vmin=0, vmax=14, aspect="auto")
    for y, (_, cells) in enumerate(held.rows):
        for x, cell in enumerate(cells):
            if cell.number:
                axes.text(x, y, f"{cell.number:,}", ha="center", va="center", fontsize=7, weight="bold" if cell.right else "normal")
    axes.set_xticks(range(len(held.columns)), [short(name, 20) for name in held.columns], rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(len(held.rows)), [short(name, 20) for name, _ in held.rows], fontsize=8)
    axes.set_xlabel("predicted")
    axes.set_ylabel("gold")


def quality_plot(comparison: Comparison, measured: Mapping[str, MeasuredRun]) -> Plot:
    """Return quality with its interval against what a detector costs: seconds, and money if any cost money, for 1,000 documents."""
    known = {one.name: measured[one.name] for one in comparison.systems if one.name in measured}
    paid = any(one.usd for one in known.values())

    def fill(figure: Figure) -> None:
        panels = figure.subplots(1, 1 + paid, sharey=True, squeeze=False)[0]
        _quality(panels[0], comparison, {name: 1000 * one.seconds / max(1, one.documents) for name, one in known.items()})
        panels[0].set_xlabel("seconds for 1,000 documents")
        panels[0].set_ylabel(comparison.by)
        if paid:
            # A free one has no place on an axis of orders of magnitude: it stands at its left end.
            costs = {name: 1000 * one.usd / max(1, one.documents) for name, one in known.items() if one.usd is not None}
            least = min(cost for cost in costs.values() if cost > 0)
            _quality(panels[1], comparison, {name: cost or least / 10 for name, cost in costs.items()})
            panels[1].set_xlabel("US dollars for 1,000 documents (free ones at the left end)")

    return draw_plot("quality", f"{comparison.by} against time and cost", 4.2, fill)


def _quality(panel: Axes, comparison: Comparison, at: Mapping[str, float]) -> None:
    panel.set_xscale("log")
    for number, one in enumerate(comparison.systems):
        if one.name not in at:
            continue
        value, interval = one.figures[comparison.by], one.intervals[comparison.by]
        colour = _COLOURS[number % len(_COLOURS)]
        if interval is not None:
            panel.plot([at[one.name]] * 2, [interval.low, interval.high], color=colour, lw=2, solid_capstyle="butt")
        panel.plot([at[one.name]], [value], "o", color=colour, label=short(one.name, 28))
    panel.margins(x=0.25, y=0.1)
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.grid(visible=True, alpha=0.3)
    panel.legend(frameon=False, fontsize=8)


def reliability_plot(calibrations: Mapping[str, CalibrationFigures]) -> Plot:
    """Return the share of right spans by score, a line a system; on the diagonal a score is what it says."""
    scored = {name: one for name, one in calibrations.items() if one.spans}

    def fill(figure: Figure) -> None:
        panel = figure.subplots()
        panel.plot([0, 1], [0, 1], color=GREY, ls="--", lw=1)
        for number, (name, one) in enumerate(scored.items()):
            colour = _COLOURS[number % len(_COLOURS)]
            label = f"{short(name, 28)} (ECE {one.ece:.3f})"
            panel.plot([band.said for band in one.bands], [band.right for band in one.bands], color=colour, lw=1.4, label=label)
            for band in one.bands:  # the area of a point is the share of spans that it stands for
                panel.scatter([band.said], [band.right], s=16 + 240 * band.count / one.spans, color=colour, alpha=0.7, linewidths=0)
        panel.set_xlim(0, 1.02)
        panel.set_ylim(0, 1.02)
        panel.set_xlabel("score")
        panel.set_ylabel("share of spans that are right")
        panel.grid(visible=True, alpha=0.3)
        panel.legend(frameon=False, fontsize=8, loc="upper left")

    return draw_plot("reliability", "How far scores can be trusted", 4.6, fill)
