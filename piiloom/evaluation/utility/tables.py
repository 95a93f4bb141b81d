"""The figures as rows of texts, for terminals and Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from piiloom.evaluation.utility.evaluating import UtilityResult
from piiloom.evaluation.utility.figures import ALL_PAIRS, PairCounts
from piiloom.evaluation.utility.intervals import Figure
from piiloom.evaluation.utility.outcomes import TIES
from piiloom.foundation.words import counted

# The title of each figure of a variant.
_TITLES: Final[Mapping[str, str]] = {
    "win_rate": "win rate",
    "completeness": "completeness",
    "violation_answer_judge": "answer tells (judge)",
    "violation_answer_exact": "answer tells (exact)",
    "violation_context_judge": "context tells (judge)",
    "violation_context_exact": "context tells (exact)",
    "kept_relevant": "relevant kept",
    "word_overlap": "words kept",
    "answer_words": "answer words",
}
_WITH_INTERVALS: Final = ("win_rate", "completeness", "violation_answer_judge")
_COUNTS: Final = ("answer_words",)
_NONE: Final = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityTable:
    """A table: its title, its header, and its rows, the first cell of each a name."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def utility_tables(result: UtilityResult) -> tuple[UtilityTable, ...]:
    """Return the tables of variants and pairs; with a second judge also its pairs, and the agreement of both judges."""
    first = _pair_table(result, result.figures.pairs, result.method)
    if not result.second_method:
        return _variant_table(result), first
    second = _pair_table(result, result.figures.second_pairs, f"the same answers, {result.second_method}")
    return _variant_table(result), first, second, _agreement_table(result)


def _agreement_table(result: UtilityResult) -> UtilityTable:
    rows = tuple(
        (
            f"{one.one} : {one.other}" if one.one != ALL_PAIRS else "all pairs",
            f"{one.pairs:,}",
            *(_NONE if share is None else f"{share:.3f}" for share in (one.same, one.kappa)),
        )
        for one in result.figures.agreement
    )
    columns = ("pair", "decided by both", "same result", "Cohen's kappa")
    return UtilityTable(title="agreement of the two judges: win, tie or loss", columns=columns, rows=rows)


def _variant_table(result: UtilityResult) -> UtilityTable:
    """Return utility and violation side by side, a column a variant; figures that nobody has are left out."""
    by_variant = result.figures.variants
    rows = tuple(
        (title, *(_cell(figures[name], interval=name in _WITH_INTERVALS, count=name in _COUNTS) for figures in by_variant.values()))
        for name, title in _TITLES.items()
        if any(figures[name].value is not None for figures in by_variant.values())
    )
    return UtilityTable(title=f"utility and violation: {result.method}", columns=("", *by_variant), rows=rows)


def _pair_table(result: UtilityResult, pairs: Sequence[PairCounts], method: str) -> UtilityTable:
    """Return wins, ties and losses of each of *pairs*, and the share of wins."""
    kinds = () if result.asked is None else TIES
    rows = tuple(
        (
            f"{pair.one} : {pair.other}",
            *(f"{count:,}" for count in (pair.wins, pair.ties, pair.losses, *(pair.results[kind] for kind in kinds), pair.missing)),
            _NONE if pair.preferred is None else f"{pair.preferred:.3f}",
        )
        for pair in pairs
    )
    columns = ("pair", "wins", "ties", "losses", *(f"of ties: {kind}" for kind in kinds), "undecided", "preferred")
    return UtilityTable(title=f"pairs: {method}", columns=columns, rows=rows)


def remarks(result: UtilityResult) -> list[str]:
    """Say what the tables cannot."""
    figures = result.figures
    told = f"{counted(figures.records, 'record')} of {counted(figures.documents, 'document')}"
    lines = [f"{told}; 95% intervals by a bootstrap over documents"]
    lines += [f"left out: {count:,} ({reason})" for reason, count in result.left_out.items()]
    if figures.followed.value is not None:
        share = _cell(figures.followed)
        lines.append(f"position bias: {share} of {figures.followed.of:,} pairs follow the position")
    if figures.first.value is not None:
        share = _cell(figures.first)
        lines.append(f"the first answer is named in {share} of {figures.first.of:,} verdicts that name one")
    for kind, reasons in figures.lost.items():
        lines.append(f"without a usable reply: {kind}: {', '.join(f'{reason} {count:,}' for reason, count in reasons.items())}")
    if result.asked is None:
        lines.append("No model was asked: this says what the variants still tell, not how good answers from them would be.")
    return lines


def _cell(figure: Figure, *, interval: bool = True, count: bool = False) -> str:
    if figure.value is None:
        return _NONE
    value = f"{figure.value:.0f}" if count else f"{figure.value:.3f}"
    return value if figure.interval is None or not interval else f"{value} [{figure.interval.low:.3f}, {figure.interval.high:.3f}]"
