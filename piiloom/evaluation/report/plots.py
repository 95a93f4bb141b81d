"""The plots of a report, as PNG and SVG. Needs matplotlib (the extra ``report``); import this module only if plots are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from piiloom.evaluation.pages.parts import as_percent, short
from piiloom.evaluation.plots import BLUE, GREY, ORANGE, Plot, draw_plot
from piiloom.evaluation.report.counts import TypeFigures
from piiloom.evaluation.report.figures import CHANCE, ReportFigures
from piiloom.evaluation.report.tables import span_of_bin
from piiloom.evaluation.report.wording import Opener, TextFigures

_PANELS = 5  # side by side


def report_plots(figures: ReportFigures) -> Iterator[Plot]:
    """Yield all plots for which there is data."""
    yield draw_plot("lengths", "Words a text", 4.2, lambda figure: _lengths(figure, figures))
    yield draw_plot("openers", "The most frequent openers", 6.4 if figures.questions else 3.4, lambda figure: _openers(figure, figures))
    if figures.types:
        height = 1.4 + 0.28 * len(figures.types)
        yield draw_plot("relevance", "Types by relevance", height, lambda figure: _relevance(figure.subplots(), figures.types))
    opened = [each for each in figures.types if each.open]
    if opened:
        yield draw_plot(
            "values",
            "How often the values of open types repeat",
            1 + 1.9 * -(-len(opened) // _PANELS),
            lambda figure: _values(figure, opened),
        )
    if figures.guessability.type.accuracy is not None:
        yield draw_plot("guessability", "What relevance is guessed from", 3.2, lambda figure: _guessability(figure.subplots(), figures))


def _panels(figure: Figure, figures: ReportFigures, *, stacked: bool = False) -> list[tuple[Axes, str, TextFigures]]:
    """Return one panel per kind of text (contexts, questions)."""
    kinds = [("contexts", figures.contexts), *([("questions", figures.questions)] if figures.questions else [])]
    axes = figure.subplots(len(kinds), 1, squeeze=False) if stacked else figure.subplots(1, len(kinds), squeeze=False)
    return [(panel, name, texts) for panel, (name, texts) in zip(axes.flat, kinds, strict=True)]


def _lengths(figure: Figure, figures: ReportFigures) -> None:
    for panel, name, texts in _panels(figure, figures):
        bins = texts.lengths.histogram
        places = range(len(bins))
        panel.bar(places, [each.texts for each in bins], color=BLUE, width=0.92)
        step = max(1, -(-len(bins) // 8))  # about eight labels, however many bins
        panel.set_xticks(list(places)[::step], [span_of_bin(each) for each in bins][::step], rotation=40, ha="right")
        panel.set_title(f"{name}: p5 {texts.lengths.p5}, median {texts.lengths.p50}, p95 {texts.lengths.p95}")
        panel.set_xlabel("words")
        panel.set_ylabel(name)
        panel.yaxis.set_major_locator(MaxNLocator(integer=True))


def _openers(figure: Figure, figures: ReportFigures) -> None:
    for panel, name, texts in _panels(figure, figures, stacked=True):  # one above the other: labels of wide letters need the room
        top: Sequence[Opener] = texts.openers.top[::-1]
        bars = panel.barh(range(len(top)), [100 * opener.share for opener in top], color=BLUE)
        panel.bar_label(bars, [as_percent(opener.share) for opener in top], padding=3, fontsize=8)
        panel.set_yticks(range(len(top)), [short(opener.words, 28) for opener in top])
        panel.margins(x=0.18)
        panel.set_title(f"{name}: {texts.openers.distinct:,} openers; half of the texts use {texts.openers.for_half:,}")
        panel.set_xlabel("% of texts")


def _relevance(axes: Axes, types: Sequence[TypeFigures]) -> None:
    rows = types[::-1]
    left = [0] * len(rows)
    for label, colour, counts in (
        ("high", ORANGE, [each.high for each in rows]),
        ("low", BLUE, [each.low for each in rows]),
        ("no relevance", GREY, [each.unjudged for each in rows]),
    ):
        if any(counts):
            axes.barh(range(len(rows)), counts, left=left, color=colour, label=label)
            left = [before + more for before, more in zip(left, counts, strict=True)]
    for place, (each, end) in enumerate(zip(rows, left, strict=True)):
        judged = each.high + each.low
        if judged:
            axes.annotate(
                f"{as_percent(each.high / judged)} high", (end, place), (4, 0), textcoords="offset points", va="center", fontsize=8
            )
    axes.set_yticks(range(len(rows)), [short(each.type, 28) for each in rows])
    axes.margins(x=0.14, y=0.02)
    axes.set_xlabel("spans")
    axes.figure.legend(loc="outside right upper", frameon=False)


def _values(figure: Figure, types: Sequence[TypeFigures]) -> None:
    """Draw one panel per type, since many lines in one panel would overlap."""
    rows = -(-len(types) // _PANELS)
    grid = figure.subplots(rows, _PANELS, sharex=True, sharey=True, squeeze=False)
    grid[0, 0].set(xscale="log", yscale="log")  # and so have all others, as they share its axes
    grid[0, 0].set_xlim(0.5, max(10, *(each.distinct for each in types)) * 1.3)
    grid[0, 0].set_ylim(0.5, max(10, *(each.top[0].mentions for each in types)) * 1.3)
    for number, panel in enumerate(grid.flat):
        if number >= len(types):
            panel.set_axis_off()
            continue
        each = types[number]
        # Values that repeat equally often share a step.
        edges, counts = [0.5], []
        for mentions, values in reversed(each.repeats):
            edges.append(edges[-1] + values)
            counts.append(mentions)
        panel.stairs(counts, edges, baseline=0.5, fill=True, color=BLUE)
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter("{x:,.0f}")
            axis.set_minor_locator(NullLocator())  # hundreds of little ticks take longest of all to draw
        panel.set_title(f"{short(each.type, 20)}\n{each.distinct:,} of {each.mentions:,}", fontsize=9)
    figure.supxlabel("rank of the value (in titles: values of mentions)", fontsize=10)
    figure.supylabel("mentions of the value", fontsize=10)


def _guessability(axes: Axes, figures: ReportFigures) -> None:
    guess = figures.guessability
    named = [
        ("word overlap", guess.word_overlap),
        ("story and subtype", guess.story_and_slot),
        ("type and position", guess.type_and_position),
        ("position", guess.position),
        ("type", guess.type),
    ]
    named = [(name, each) for name, each in named if each.accuracy is not None]
    bars = axes.barh(range(len(named)), [each.accuracy or 0 for _, each in named], color=BLUE, height=0.55)
    axes.bar_label(bars, [f"{each.accuracy or 0:.3f}" for _, each in named], padding=4)
    axes.plot(
        [each.shuffled or 0 for _, each in named], range(len(named)), "|", color="black", ms=26, mew=2, ls="none", label="labels shuffled"
    )
    axes.axvline(CHANCE, color=ORANGE, ls="--", lw=1.8, label=f"chance ({CHANCE})")
    axes.set_yticks(range(len(named)), [name for name, _ in named])
    axes.set_xlim(0, 1)
    axes.set_xlabel("balanced accuracy of guessing relevance (in sample)")
    axes.figure.legend(loc="outside right upper", frameon=False, markerscale=0.45)
