"""A comparison as a table of plain text, which each form (Markdown, LaTeX, HTML) escapes in its own way.

Cells whose text piiloom did not write are ``quoted``: names of systems, and the cells of extra columns.
"""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.evaluation.comparison.comparing import Comparison, RankedSystem
from piiloom.evaluation.scoring.bootstrap import Interval
from piiloom.foundation.markdown import one_line
from piiloom.foundation.words import counted

NOTHING = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One line of text, with an interval to be set smaller. ``strong``: the best of its column; ``quoted``: of unknown content."""

    text: str
    interval: str = ""
    strong: bool = False
    quoted: bool = False


def quoted(text: str) -> Cell:
    """Return a cell for text that piiloom did not write."""
    return Cell(text=one_line(text), quoted=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonTable:
    """The first column is the rank, the second the system's name, which heads its row; then come figures."""

    title: str
    columns: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]


def comparison_table(comparison: Comparison) -> ComparisonTable:
    """Return the table of *comparison* with its extra columns, in which missing cells are "–"."""
    best = {name: max(one.figures[name] for one in comparison.systems) for name in comparison.headline}
    if comparison.ranking.lowest:  # which says nothing about the other figures
        best = {comparison.by: min(one.figures[comparison.by] for one in comparison.systems)}
    rows = (
        (
            Cell(text=rank_of(one)),
            quoted(one.name),
            *(
                Cell(text=NOTHING)
                if comparison.figure(one, name) is None
                else Cell(
                    text=f"{one.figures[name]:.4f}", interval=interval_of(one.intervals[name]), strong=one.figures[name] == best.get(name)
                )
                for name in comparison.headline
            ),
            Cell(text=difference_of(one), interval=interval_of(one.difference_interval)),
            Cell(text=p_of(one)),
            *(quoted(cells.get(one.name, NOTHING)) for cells in comparison.extra.values()),
        )
        for one in comparison.systems
    )
    titles = ("rank", "system", *comparison.headline, f"{comparison.by} to best", "p")
    return ComparisonTable(
        title=f"{counted(len(comparison.systems), 'system')} by {comparison.by}, scheme {comparison.scheme}",
        columns=(*(Cell(text=title) for title in titles), *map(quoted, comparison.extra)),
        rows=tuple(rows),
        notes=notes_on(comparison),
    )


def notes_on(comparison: Comparison) -> tuple[str, ...]:
    """Say what the figures rest on."""
    ranking = comparison.ranking
    notes = [f"{counted(comparison.documents, 'document')} in {counted(comparison.clusters, 'cluster')} by {ranking.cluster}"]
    if ranking.cluster != "document" and comparison.keyed < comparison.documents:
        notes[0] += f" ({comparison.documents - comparison.keyed:,} without a key {ranking.cluster}:…, each by itself)"
    if comparison.clusters < 2:
        notes.append("no intervals: these need two clusters or more")
    else:
        notes.append(
            f"in brackets: {100 * ranking.confidence:g}% intervals, bootstrap over clusters "
            f"({ranking.resamples:,} resamples, seed {ranking.seed})"
        )
    if comparison.tests:
        notes.append(
            f"p: difference to the best by approximate randomisation of clusters ({ranking.permutations:,} permutations), two-sided, "
            f"adjusted by Holm over {counted(len(comparison.tests), 'pair')}"
        )
        notes.append(f"rank: 1 + the number of better systems with p ≤ {1 - ranking.confidence:.3g}; = marks a shared rank")
    if len(comparison.tests) / (1 + ranking.permutations) > 1 - ranking.confidence:
        notes.append("too few permutations to tell any of so many pairs apart: give more with --permutations")
    return (*notes, *(f"warning: {one_line(one)}" for one in comparison.warnings), *comparison.notes)


def rank_of(one: RankedSystem) -> str:
    """``1=`` for a rank that is shared."""
    return f"{one.rank}{'=' if one.tied else ''}"


def difference_of(one: RankedSystem) -> str:
    """``−0.0123``, to the best."""
    return NOTHING if one.difference is None else f"{one.difference:+.4f}".replace("-", "−")


def p_of(one: RankedSystem) -> str:
    """``0.012``, and ``<0.001`` for less."""
    if one.p is None:
        return NOTHING
    return "<0.001" if one.p < 0.001 else f"{one.p:.3f}"


def interval_of(interval: Interval | None) -> str:
    """``[0.812, 0.870]``, or nothing."""
    return "" if interval is None else f"[{interval.low:.3f}, {interval.high:.3f}]".replace("-", "−")
