"""The plot of k by policy. Needs matplotlib (the extra ``report``); import this module only if the plot is wanted."""

from __future__ import annotations

from matplotlib.figure import Figure

from piiloom.evaluation.pages.plots import BLUE, ORANGE, Plot, draw_plot
from piiloom.evaluation.reidentification.attack import AttackFigures


def k_plot(figures: AttackFigures) -> Plot:
    """Return the share of documents by k, a panel a policy; the bar of k = 1 (unique) stands out."""
    height = 0.8 + 1.5 * len(figures.policies)
    return draw_plot("k", "Documents by k: how many documents have all values that are left", height, lambda figure: _fill(figure, figures))


def _fill(figure: Figure, figures: AttackFigures) -> None:
    panels = figure.subplots(len(figures.policies), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for panel, (policy, one) in zip(panels, figures.policies.items(), strict=True):
        shares = [100 * number / figures.documents for number in one.histogram.values()]
        bars = panel.bar(range(len(shares)), shares, color=[ORANGE, *[BLUE] * (len(shares) - 1)], width=0.9)
        panel.bar_label(bars, [f"{share:.0f}%" if share >= 0.5 else "" for share in shares], padding=2, fontsize=8)
        panel.set_title(f"masked: {policy}", fontsize=10)
        panel.set_xticks(range(len(shares)), [name.replace("-", "–") for name in one.histogram])
    panels[0].set_ylim(0, 112)
    panels[-1].set_xlabel("k")
    figure.supylabel("% of documents", fontsize=10)
