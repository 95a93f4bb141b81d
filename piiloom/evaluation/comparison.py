"""Compare systems under one scheme: figures with intervals, differences to the best, ranks that say what may be chance; and their table.

A comparison is a table of plain text, and the table in Markdown, LaTeX and HTML, each with escapes of its own.
Cells whose text piiloom did not write are ``quoted``: names of systems, and the cells of extra columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from piiloom.evaluation.inputs.documents import InputsSummary, Pair
from piiloom.evaluation.pages.parts import NOTHING, render_table
from piiloom.evaluation.schemes.base import FIGURES, Scheme, asks_types
from piiloom.evaluation.scoring.counts import CalibrationFigures, Clusters, CountTable, count_documents, joint_numbers
from piiloom.evaluation.scoring.resampling import (
    UNCERTAINTY,
    Interval,
    ResamplingSettings,
    cluster_sums,
    end_columns,
    ends,
    holm,
    percentiles,
    permutation_p,
    resampled_totals,
)
from piiloom.foundation.errors import UsageError
from piiloom.foundation.frames import Framed, Row
from piiloom.foundation.settings import setting
from piiloom.foundation.words import counted, escaped, one_line, pipe_table


class RankingSettings(ResamplingSettings):
    """Settings of a ranking. Two systems differ if the adjusted p value is at most 1 - confidence."""

    by: str | None = setting(
        None, "Headline figure to rank by (default F1, or the first figure of the scheme).", metavar="FIGURE", panel=FIGURES
    )
    lowest: bool = setting(False, "The lowest figure is the best, as of an error rate.", panel=FIGURES, advanced=True)
    resamples: int = setting(1000, "Number of bootstrap draws.", metavar="N", panel=UNCERTAINTY, ge=1)
    permutations: int = setting(
        10_000, "Number of exchanges between two systems in the test of their difference.", metavar="N", panel=UNCERTAINTY, ge=1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSystem:
    """One system. ``difference`` and ``p`` (adjusted) are those to the best system by the figure that ranks; None for the best itself.

    ``rank`` is 1 + the number of systems that are better and differ, so systems may share a rank (``tied``). ``intervals`` are those of
    the headline, None with fewer than two clusters.
    """

    name: str
    rank: int
    tied: bool
    figures: dict[str, float]
    intervals: dict[str, Interval | None]
    difference: float | None
    difference_interval: Interval | None
    p: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTest:
    """Two systems, the better one first: the difference (first - second), its p value, and p adjusted by Holm over all pairs."""

    first: str
    second: str
    difference: float
    p: float
    adjusted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Framed):
    """All systems, the best first. ``keyed``: the documents that have a key of the kind ``ranking.cluster``.

    ``warnings`` are about inputs that change the meaning of a figure. ``figure`` is None where a system states no types and the figure is
    about types. ``extra``: further columns by title, with their cells by the name of
    the system; ``notes`` belong to them. ``pictures`` were drawn; ``inputs`` sum up the files by the name of the system.
    """

    scheme: str
    headline: tuple[str, ...]
    by: str
    ranking: RankingSettings
    documents: int
    clusters: int
    keyed: int
    systems: tuple[RankedSystem, ...]
    tests: tuple[PairTest, ...]
    warnings: tuple[str, ...] = ()
    extra: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    calibrations: Mapping[str, CalibrationFigures] = field(default_factory=dict)
    pictures: tuple[Path, ...] = ()
    inputs: Mapping[str, InputsSummary] = field(default_factory=dict)

    def figure(self, one: RankedSystem, name: str) -> float | None:
        """Return the figure *name* of a system."""
        untyped = one.name in self.inputs and self.inputs[one.name].found.untyped
        return None if untyped and asks_types(name) else one.figures[name]

    def frame_rows(self) -> Iterator[Row]:
        """Return a row for each system, the best first."""
        for one in self.systems:
            yield {
                "system": one.name,
                "rank": one.rank,
                "tied": one.tied,
                **{name: self.figure(one, name) for name in one.figures},
                **end_columns(one.intervals),
                "difference": one.difference,
                "p": one.p,
            }

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as JSON values, unrounded."""
        ranking = self.ranking
        return {
            "scheme": self.scheme,
            "by": self.by,
            "best": "lowest" if ranking.lowest else "highest",
            "documents": self.documents,
            "cluster": {"by": ranking.cluster, "clusters": self.clusters, "documents_with_key": self.keyed},
            "confidence": ranking.confidence,
            "resamples": ranking.resamples,
            "permutations": ranking.permutations,
            "seed": ranking.seed,
            "warnings": list(self.warnings),
            "systems": [self._system(one) for one in self.systems],
            "pairs": [
                {"systems": [test.first, test.second], "difference": test.difference, "p": test.p, "p_adjusted": test.adjusted}
                for test in self.tests
            ],
            "inputs": {name: summary.to_json() for name, summary in self.inputs.items()},
        }

    def _system(self, one: RankedSystem) -> dict[str, Any]:
        extra = {title: cells[one.name] for title, cells in self.extra.items() if one.name in cells}
        calibration = self.calibrations.get(one.name)
        return {
            "name": one.name,
            "rank": one.rank,
            "tied": one.tied,
            "metrics": {name: self.figure(one, name) for name in one.figures},
            "intervals": {name: ends(interval) for name, interval in one.intervals.items()},
            "difference": one.difference,
            "difference_interval": ends(one.difference_interval),
            "p_adjusted": one.p,
            **({"extra": extra} if extra else {}),
            **({"calibration": calibration.to_json()} if calibration else {}),
        }


def compare_systems(systems: Mapping[str, Iterable[Pair]], scheme: Scheme, ranking: RankingSettings) -> Comparison:
    """Read the pairs of each of *systems* (by name), one after the other, and compare them.

    A document that is among the pairs of some systems only has no counts for the others: tables of entities name the documents in which
    there is one. Raises ``UsageError``, before anything is read, if there is no system or the figure to rank by is none of the headline.
    """
    by = check_ranking(scheme, tuple(systems), ranking)
    tables, passes = [], []
    for read in systems.values():
        table, clusters = CountTable(scheme), Clusters(ranking.cluster)
        for pair in read:
            table.add(pair)
            clusters.add(pair)
        tables.append(table)
        passes.append(clusters)
    numbers = joint_numbers(passes)
    count = 1 + max(int(each.max(initial=-1)) for each in numbers)
    sums = {name: cluster_sums(table.rows, own, count) for name, table, own in zip(systems, tables, numbers, strict=True)}
    ranked, tests = rank_systems(scheme, sums, by, ranking)
    return Comparison(
        scheme=scheme.name,
        headline=scheme.headline,
        by=by,
        ranking=ranking,
        documents=count_documents(passes),
        clusters=count,
        keyed=max(each.keyed for each in passes),
        systems=ranked,
        tests=tests,
    )


def rank_systems(
    scheme: Scheme, sums: Mapping[str, NDArray[np.float64]], by: str, ranking: RankingSettings
) -> tuple[tuple[RankedSystem, ...], tuple[PairTest, ...]]:
    """Return the systems, the best first, and the tests of all pairs. *sums*: the counts of clusters of each system (``cluster_sums``)."""
    figures = {name: {key: float(value) for key, value in scheme.figures(one.sum(axis=0)).items()} for name, one in sums.items()}
    sign = 1 if ranking.lowest else -1
    order = sorted(sums, key=lambda name: (sign * figures[name][by], name))
    resampled = _resampled(scheme, sums, ranking)
    tests = _tests(scheme, sums, order, {name: figures[name][by] for name in order}, by, ranking)
    level = 1 - ranking.confidence
    ranks = {name: 1 + sum(test.second == name and test.adjusted <= level for test in tests) for name in order}
    to_best = {test.second: test for test in tests if test.first == order[0]}
    confidence = ranking.confidence
    ranked = tuple(
        RankedSystem(
            name=name,
            rank=ranks[name],
            tied=list(ranks.values()).count(ranks[name]) > 1,
            figures=figures[name],
            intervals={key: percentiles(resampled[name][key], confidence) if resampled else None for key in scheme.headline},
            difference=figures[name][by] - figures[order[0]][by] if name in to_best else None,
            difference_interval=percentiles(resampled[name][by] - resampled[order[0]][by], confidence)
            if resampled and name in to_best
            else None,
            p=to_best[name].adjusted if name in to_best else None,
        )
        for name in order
    )
    return tuple(sorted(ranked, key=lambda one: one.rank)), tests


def check_ranking(scheme: Scheme, systems: Sequence[str], ranking: RankingSettings) -> str:
    """Return the figure to rank by. Raises ``UsageError`` if there is no system, or the figure is none of the headline."""
    if not systems:
        raise UsageError("nothing to compare", remedy="Name files of predictions after the gold file, or a --detector")
    wanted = ranking.by
    if wanted is None:
        return next((name for name in scheme.headline if name.endswith("f1")), scheme.headline[0])
    if wanted not in scheme.headline:
        remedy = f"Rank by one of: {', '.join(scheme.headline)}"
        raise UsageError(f"{wanted!r} is no headline figure of the scheme {scheme.name}", where="--by", remedy=remedy)
    return wanted


def _resampled(
    scheme: Scheme, sums: Mapping[str, NDArray[np.float64]], resampling: ResamplingSettings
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return each system's figures in each round, of the same draws for all; empty with fewer than two clusters."""
    if any(len(one) < 2 for one in sums.values()):
        return {}
    totals = resampled_totals(np.hstack(list(sums.values())), rounds=resampling.resamples, seed=resampling.seed)
    parts = np.split(totals, len(sums), axis=1)
    return {name: scheme.figures(part) for name, part in zip(sums, parts, strict=True)}


def _tests(
    scheme: Scheme,
    sums: Mapping[str, NDArray[np.float64]],
    order: Sequence[str],
    values: Mapping[str, float],
    by: str,
    ranking: RankingSettings,
) -> tuple[PairTest, ...]:
    ordered = [sums[name] for name in order]
    p = permutation_p(scheme, ordered, [by], rounds=ranking.permutations, seed=ranking.seed)[by]
    pairs = list(combinations(range(len(order)), 2))
    raw = [float(p[i, j]) for i, j in pairs]
    return tuple(
        PairTest(first=order[i], second=order[j], difference=values[order[i]] - values[order[j]], p=value, adjusted=adjusted)
        for (i, j), value, adjusted in zip(pairs, raw, holm(raw), strict=True)
    )


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
    return render_table("comparison.html.j2", "comparison.css", table)
