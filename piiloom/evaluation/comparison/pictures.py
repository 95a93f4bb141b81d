"""The pictures of a comparison. Needs matplotlib (the extra ``report``); import this module only if they are wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from piiloom.evaluation.calibration.calibrating import CalibrationFigures
from piiloom.evaluation.comparison.comparing import Comparison
from piiloom.evaluation.comparison.measured import Measured
from piiloom.evaluation.pages.cells import short
from piiloom.evaluation.pages.plots import BLUE, GREY, ORANGE, Plot, draw_plot

_COLOURS: Final = (BLUE, ORANGE, "#4c9a5b", "#8d5aa8", "#b0413e", "#5f7f7a", "#a8873b", "#777777")


def quality_plot(comparison: Comparison, measured: Mapping[str, Measured]) -> Plot:
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
            panel.plot([band.mean_score for band in one.bands], [band.right for band in one.bands], color=colour, lw=1.4, label=label)
            for band in one.bands:  # the area of a point is the share of spans that it stands for
                panel.scatter([band.mean_score], [band.right], s=16 + 240 * band.spans / one.spans, color=colour, alpha=0.7, linewidths=0)
        panel.set_xlim(0, 1.02)
        panel.set_ylim(0, 1.02)
        panel.set_xlabel("score")
        panel.set_ylabel("share of spans that are right")
        panel.grid(visible=True, alpha=0.3)
        panel.legend(frameon=False, fontsize=8, loc="upper left")

    return draw_plot("reliability", "How far scores can be trusted", 4.6, fill)
