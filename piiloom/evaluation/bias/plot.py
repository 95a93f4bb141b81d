"""The plot of recall by group. Needs matplotlib (the extra ``report``); import this module only if the plot is wanted."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from piiloom.evaluation.bias.figures import BiasFigures, GroupRecall
from piiloom.evaluation.pages.cells import short
from piiloom.evaluation.pages.plots import BLUE, ORANGE, Plot, draw_plot


def bias_plot(figures: BiasFigures) -> Plot:
    """Return recall with its interval by group, a panel an axis; the line is the recall of all names."""
    caption = f"Recall of {short(figures.entity_type)} by group ({figures.match})"
    return draw_plot("bias", caption, 3.2, lambda figure: _fill(figure, figures))


def _fill(figure: Figure, figures: BiasFigures) -> None:
    widths = [1 + len(groups) for groups in figures.groups.values()]
    panels = figure.subplots(1, len(widths), sharey=True, squeeze=False, width_ratios=widths)[0]
    for panel, (axis, groups) in zip(panels, figures.groups.items(), strict=True):
        _panel(panel, groups)
        panel.set_title(axis)
        if figures.overall.recall is not None:
            panel.axhline(figures.overall.recall, color=ORANGE, ls="--", lw=1.4)
    panels[0].set_ylim(0, 1.05)
    panels[0].set_ylabel(f"recall of {short(figures.entity_type, 24)}")
    panels[0].yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _panel(panel: Axes, groups: Mapping[str, GroupRecall]) -> None:
    for place, one in enumerate(groups.values()):
        if one.recall is not None and one.ci is not None:
            panel.plot([place, place], [one.ci.low, one.ci.high], color=BLUE, lw=2.2, solid_capstyle="butt")
            panel.plot([place], [one.recall], "o", color=BLUE)
    panel.set_xticks(range(len(groups)), [f"{name}\n{one.total:,}" for name, one in groups.items()], fontsize=9)
    panel.set_xlim(-0.6, len(groups) - 0.4)
