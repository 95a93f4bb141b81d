"""The figures of bias as tables, for the terminal and for Markdown."""

from __future__ import annotations

from typing import Final

from piiloom.evaluation.bias.figures import BiasFigures, GroupRecall
from piiloom.evaluation.bias.name_groups import NO_FIRST, NO_LAST, NO_REGION, UNKNOWN_FIRST, UNKNOWN_LAST, Axis
from piiloom.evaluation.pages.cells import NOTHING, count, decimal
from piiloom.evaluation.pages.tables import ReportTable, Row
from piiloom.evaluation.scoring.bootstrap import Interval

_REASONS: Final = {
    NO_FIRST: "no first name",
    UNKNOWN_FIRST: "first name unknown",
    NO_LAST: "no family name",
    UNKNOWN_LAST: "family name unknown",
    NO_REGION: "country without region",
}
_NOTE: Final = (
    "{confidence:.0%} intervals from {rounds} resamples of the documents. The gap is that of the two groups furthest apart: "
    "if its interval holds 0, the difference may be chance. Groups are guesses about names, by the index: {index}."
)


def bias_table(figures: BiasFigures) -> ReportTable:
    """Return recall by group, with the largest gap and what was left out, of each axis."""
    rows: list[Row] = [("", "all names", *_cells(figures.overall))]
    for axis, groups in figures.groups.items():
        rows += [(axis if not place else "", name, *_cells(one)) for place, (name, one) in enumerate(groups.items())]
        rows += _of_axis(figures, axis)
    how = figures.resampling
    note = _NOTE.format(confidence=how.confidence, rounds=count(how.resamples), index=figures.index)
    columns = ("by", "group", "mentions", "found", "recall", f"{how.confidence:.0%} interval")
    return ReportTable(title=f"bias: {figures.match}", columns=columns, rows=tuple(rows), note=note, texts=2)


def _of_axis(figures: BiasFigures, axis: Axis) -> list[Row]:
    rows: list[Row] = []
    gap = figures.gaps[axis]
    if gap is not None:
        rows.append(("", f"gap {gap.best} − {gap.worst}", "", "", f"{gap.value:+.3f}", _interval(gap.ci)))
    rows += [
        ("", f"left out: {_REASONS[reason]}", count(number), "", "", "") for reason, number in figures.left_out[axis].items() if number
    ]
    if figures.tied[axis]:
        rows.append(("", "as likely of another group", count(figures.tied[axis]), "", "", ""))
    return rows


def _cells(one: GroupRecall) -> Row:
    return count(one.total), count(one.found), decimal(one.recall), _interval(one.ci)


def _interval(ci: Interval | None) -> str:
    return NOTHING if ci is None else f"{ci.low:.3f} to {ci.high:.3f}"
