"""A comparison as a table of plain text, and the table in Markdown, LaTeX and HTML, each with escapes of its own.

Cells whose text piiloom did not write are ``quoted``: names of systems, and the cells of extra columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from piiloom.evaluation.comparison.comparing import Comparison, RankedSystem
from piiloom.evaluation.pages.rendering import render_table
from piiloom.evaluation.pages.tables import NOTHING
from piiloom.evaluation.scoring.resampling import Interval
from piiloom.foundation.markdown import escaped, one_line, pipe_table
from piiloom.foundation.words import counted

NOTE: Final = "documents/s and peak memory: of a process for each detector, with the time that it takes to load"
ECE_NOTE: Final = "ECE: how far scores are from the share of right spans (expected calibration error, ten bands)"
# TeX makes one other character of two hyphens, commas or quotes in a row, and has others in the places of < > | " in its old fonts.
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "'": "{'}",
    "`": "{`}",
    "--": "-{}-{}",
    ",,": ",{},{}",
    "−": "$-$",
    "–": "--",
    "…": r"\ldots{}",
    "≤": r"$\leq$",
    "\ufffd": "?",
}
_LATEX_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRun:
    """One run over ``documents`` documents, ``failed`` of which it could say nothing about.

    ``seconds``: of the run, with loading, without starting Python. ``peak_bytes``: the most memory of its process. ``usd``: what it cost;
    None if a price is unknown.
    """

    documents: int
    failed: int
    seconds: float
    peak_bytes: int
    usd: float | None


def measured_columns(measured: Mapping[str, MeasuredRun], eces: Mapping[str, float | None]) -> dict[str, dict[str, str]]:
    """Return the columns of a comparison's table, see ``comparison_table``; those in which nothing stands are left out."""
    columns = {
        "documents/s": {name: _rate(one) for name, one in measured.items()},
        "peak MB": {name: f"{one.peak_bytes / 1e6:,.0f}" for name, one in measured.items()},
        "USD/1,000": {
            name: "unknown" if one.usd is None else f"{1000 * one.usd / max(1, one.documents):.4f}" for name, one in measured.items()
        },
        "failed": {name: f"{one.failed:,}" for name, one in measured.items()} if any(one.failed for one in measured.values()) else {},
        "ECE": {name: f"{ece:.4f}" for name, ece in eces.items() if ece is not None},
    }
    return {title: cells for title, cells in columns.items() if cells}


def _cost(one: MeasuredRun) -> str:
    return "unknown" if one.usd is None else f"{1000 * one.usd / max(1, one.documents):.4f}"


def _rate(one: MeasuredRun) -> str:
    rate = one.documents / one.seconds if one.seconds else 0.0
    return f"{rate:,.1f}" if rate < 100 else f"{rate:,.0f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedCell:
    """One line of text, with an interval to be set smaller. ``strong``: the best of its column; ``quoted``: of unknown content."""

    text: str
    interval: str = ""
    strong: bool = False
    quoted: bool = False


def quoted_cell(text: str) -> ComparedCell:
    """Return a cell for text that piiloom did not write."""
    return ComparedCell(text=one_line(text), quoted=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonTable:
    """The first column is the rank, the second the system's name, which heads its row; then come figures."""

    title: str
    columns: tuple[ComparedCell, ...]
    rows: tuple[tuple[ComparedCell, ...], ...]
    notes: tuple[str, ...]


def comparison_table(comparison: Comparison) -> ComparisonTable:
    """Return the table of *comparison* with its extra columns, in which missing cells are "–"."""
    best = {name: max(one.figures[name] for one in comparison.systems) for name in comparison.headline}
    if comparison.ranking.lowest:  # which says nothing about the other figures
        best = {comparison.by: min(one.figures[comparison.by] for one in comparison.systems)}
    rows = (
        (
            ComparedCell(text=rank_of(one)),
            quoted_cell(one.name),
            *(
                ComparedCell(text=NOTHING)
                if comparison.figure(one, name) is None
                else ComparedCell(
                    text=f"{one.figures[name]:.4f}", interval=interval_of(one.intervals[name]), strong=one.figures[name] == best.get(name)
                )
                for name in comparison.headline
            ),
            ComparedCell(text=difference_of(one), interval=interval_of(one.difference_interval)),
            ComparedCell(text=p_of(one)),
            *(quoted_cell(cells.get(one.name, NOTHING)) for cells in comparison.extra.values()),
        )
        for one in comparison.systems
    )
    titles = ("rank", "system", *comparison.headline, f"{comparison.by} to best", "p")
    return ComparisonTable(
        title=f"{counted(len(comparison.systems), 'system')} by {comparison.by}, scheme {comparison.scheme}",
        columns=(*(ComparedCell(text=title) for title in titles), *map(quoted_cell, comparison.extra)),
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


def markdown_table(table: ComparisonTable) -> str:
    """Return *table* in Markdown: a heading, a pipe table, and the notes as a list."""
    drawn = pipe_table([*map(_markdown, table.columns)], ([*map(_markdown, row)] for row in table.rows), (1,))
    notes = "\n".join(f"- {escaped(note)}" for note in table.notes)
    return "\n\n".join((f"## {table.title}", drawn, notes)) + "\n"


def latex_table(table: ComparisonTable) -> str:
    """Return *table* as a LaTeX float with the rules of booktabs; the notes stand in the caption.

    Names are written as they are but for TeX's own characters, so those of other scripts need XeLaTeX or LuaLaTeX.
    """
    alignment = "rl" + "r" * (len(table.columns) - 2)
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(table.title)}. {latex('; '.join(table.notes))}.}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        _latex_row(map(_latex_cell, table.columns)),
        r"\midrule",
        *(_latex_row(map(_latex_cell, row)) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    """Return *text* escaped for LaTeX's text mode."""
    return _LATEX_SPECIAL.sub(lambda found: _LATEX[found.group()], text)


def _markdown(cell: ComparedCell) -> str:
    text = escaped(cell.text) if cell.quoted else cell.text
    text = f"**{text}**" if cell.strong else text
    return f"{text} {cell.interval}" if cell.interval else text


def _latex_row(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _latex_cell(cell: ComparedCell) -> str:
    text = rf"\textbf{{{latex(cell.text)}}}" if cell.strong else latex(cell.text)
    return rf"{text} {{\scriptsize {latex(cell.interval)}}}" if cell.interval else text


def html_page(table: ComparisonTable) -> str:
    """Return the page; names in *table* are escaped, and its policy would not let anything in them run either."""
    return render_table(__package__, "comparison.html.j2", "comparison.css", table)
