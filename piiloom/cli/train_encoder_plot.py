"""The plot of a training: losses by step, and the validation figures by epoch. Needs matplotlib (the extra ``report``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from piiloom.evaluation.pages.plots import BLUE, GREY, ORANGE, Plot, draw_plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from piiloom.detection.encoder.training_history import History

_SHOWN = (("span_f1_typed", "span F1 (exact, with type)", BLUE), ("relevance_balanced", "relevance (balanced accuracy)", ORANGE))


def draw_history(history: History) -> Plot:
    """Return the plot of *history*."""

    def fill(figure: Figure) -> None:
        losses, validation = figure.subplots(1, 2)
        losses.plot([step for step, _ in history.losses], [loss for _, loss in history.losses], color=GREY)
        losses.set(title="training loss (running mean)", xlabel="step", ylim=(0, None))
        epochs = range(1, len(history.validations) + 1)
        for name, label, colour in _SHOWN:
            if history.validations and name in history.validations[0]:
                validation.plot(epochs, [figures[name] for figures in history.validations], "o-", color=colour, label=label)
        validation.set(title="validation", xlabel="epoch", ylim=(0, 1))
        if history.validations:
            validation.axvline(history.best_epoch, color=GREY, linewidth=1, linestyle="dotted")
            validation.legend(loc="lower right", frameon=False)

    return draw_plot("plot", "losses and validation of the training", 3.4, fill)
