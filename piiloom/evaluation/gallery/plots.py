"""The plots of the gallery as files. Needs matplotlib (the extra ``report``); import this module only if plots are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from piiloom.evaluation.gallery.breakdown import TITLES, Matrix, matrix, rows_in_classes
from piiloom.evaluation.gallery.counts import CLASSES, DIMENSIONS, ErrorCounts
from piiloom.evaluation.pages.cells import short, visible
from piiloom.evaluation.pages.plots import BLUE, GREY, ORANGE, Plot, draw_plot

_TYPES = 30  # of the matrix
# Colour and hatching of each of CLASSES.
_LOOKS = ((GREY, ""), (ORANGE, "///"), (BLUE, ""), ("white", "..."))


def all_plots(counts: ErrorCounts) -> Iterator[Plot]:
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
    axes.set_yticks(range(len(shown)), [short(visible(label), 28) for label, _ in shown])
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
