"""Bias: recall of one type of names by group of the name, the largest gap between groups, and bootstrap intervals of both.

A name has a gender by its first name and a UN region by its family name; both parts are those of nameparser
(``pii_values.names.parsing``). The gender is the likelier one of the first name, the region that of the country in which most bearers of
the family name live. Nothing else counts: no title, no middle name, no form of the family name. It is a guess about a name, never a fact
about a person.

A resample draws as many documents as there are, with replacement. Documents with equal counts are interchangeable, so it is enough to draw
how often each different row of counts comes: a multinomial draw. That is the same for any order of the documents, and costs as much for a
million documents as for ten thousand. (``resampled_totals`` draws documents one by one: there a row is a cluster, and few are equal.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from piiloom.evaluation.inputs.documents import AnnotatedDocument, Pair
from piiloom.evaluation.pages.parts import NOTHING, ReportTable, as_decimal, count, short
from piiloom.evaluation.scoring.resampling import Interval, ResamplingSettings, ends, percentiles, resampled_multiples
from piiloom.foundation.errors import UsageError
from piiloom.pii_values.names.classifying import female_share, parted, shares_by_country
from piiloom.pii_values.names.index import NamesIndex, open_names
from piiloom.pii_values.names.regions import REGIONS, region_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from piiloom.evaluation.plots import Plot

Axis = Literal["gender", "region"]
AXES: Final[dict[Axis, tuple[str, ...]]] = {"gender": ("male", "female"), "region": REGIONS}

# Why a name is in no group of an axis.
NO_FIRST, UNKNOWN_FIRST = "no_first_name", "unknown_first_name"
NO_LAST, UNKNOWN_LAST, NO_REGION = "no_last_name", "unknown_last_name", "country_without_region"
REASONS: Final[dict[Axis, tuple[str, ...]]] = {"gender": (NO_FIRST, UNKNOWN_FIRST), "region": (NO_LAST, UNKNOWN_LAST, NO_REGION)}

_CACHED: Final = 1 << 16
_EXACT: Final = 9  # decimals in which shares are compared: they are sums of thousandths
Match = Literal["multiset", "membership"]
# Groups of all axes, in the order of the columns; the first column is that of all mentions, in a group or not.
GROUPS: Final[tuple[tuple[Axis, str], ...]] = tuple((axis, group) for axis, groups in AXES.items() for group in groups)
_RESAMPLING: Final = ResamplingSettings()
_SHOWN: Final = 12
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The group of a name on one axis; None with the ``reason`` if it has none. ``tied``: another group was just as likely."""

    group: str | None
    reason: str | None = None
    tied: bool = False


class NameGroups:
    """Looks names up in an index (that of ``open_names`` when None). The answers for the latest 65,536 names are kept."""

    def __init__(self, index: NamesIndex | None = None) -> None:
        self._index = index if index is not None else open_names()
        self._cached = lru_cache(maxsize=_CACHED)(self._look_up)

    @property
    def source(self) -> str:
        """What the index was made of."""
        return self._index.source

    def of(self, name: str) -> dict[Axis, Membership]:
        """Return the groups of *name* by axis; never raises, whatever the text."""
        return self._cached(name)

    def _look_up(self, name: str) -> dict[Axis, Membership]:
        parts = parted(name)
        return {"gender": self._gender(parts.first), "region": self._region(parts.family)}

    def _gender(self, first: str) -> Membership:
        if not first:
            return Membership(group=None, reason=NO_FIRST)
        share = female_share(self._index, first)
        if share is None:
            return Membership(group=None, reason=UNKNOWN_FIRST)
        # As ``piiloom names classify`` has it, a name of as many women as men is female.
        return Membership(group="female" if share >= 0.5 else "male", tied=share == 0.5)

    def _region(self, family: str) -> Membership:
        if not family:
            return Membership(group=None, reason=NO_LAST)
        shares = {code: round(share, _EXACT) for code, share in shares_by_country(self._index, "last", family).items()}
        if not shares:
            return Membership(group=None, reason=UNKNOWN_LAST)
        likeliest = sorted(code for code, share in shares.items() if share == max(shares.values()))
        sums: dict[str | None, float] = {}
        for code, share in shares.items():
            sums[_region(code)] = sums.get(_region(code), 0.0) + share
        # Of countries that are equally likely, the one in the likelier region; then the first by code.
        country = max(likeliest, key=lambda code: round(sums[_region(code)], _EXACT))
        region = _region(country)
        tied = len({_region(code) for code in likeliest}) > 1
        return Membership(group=region, reason=None if region else NO_REGION, tied=tied)


def _region(country: str) -> str | None:
    try:
        return region_of(country)
    except UsageError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRecall:
    """The gold mentions of a group, and those found. ``recall`` and ``ci`` are None if there are no mentions."""

    total: int
    found: int
    recall: float | None
    ci: Interval | None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return {"total": self.total, "found": self.found, "recall": self.recall, "ci": ends(self.ci)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The recall of the group ``best`` less that of ``worst``, the two that are furthest apart. Groups without mentions play no part."""

    best: str
    worst: str
    value: float
    ci: Interval

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return {"value": self.value, "ci": ends(self.ci), "best": self.best, "worst": self.worst}


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasFigures:
    """The figures of one type.

    ``gaps``: None on an axis with fewer than two groups that have mentions. ``left_out``: mentions that are in no group, by axis and
    reason. ``tied``: mentions whose name is as likely of another group of the axis.
    """

    entity_type: str
    match: str
    index: str
    documents: int
    overall: GroupRecall
    groups: Mapping[Axis, Mapping[str, GroupRecall]]
    gaps: Mapping[Axis, Gap | None]
    left_out: Mapping[Axis, Mapping[str, int]]
    tied: Mapping[Axis, int]
    resampling: ResamplingSettings

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain data: the groups under their axis, what concerns an axis as a whole beside them."""
        how = self.resampling
        return {
            "type": self.entity_type,
            "match": self.match,
            "documents": self.documents,
            "overall": self.overall.to_json(),
            **{axis: {name: one.to_json() for name, one in groups.items()} for axis, groups in self.groups.items()},
            "gap": {axis: None if gap is None else gap.to_json() for axis, gap in self.gaps.items()},
            "left_out": {axis: dict(reasons) for axis, reasons in self.left_out.items()},
            "tied": dict(self.tied),
            "names_index": self.index,
            "bootstrap": {"rounds": how.resamples, "seed": how.seed, "confidence": how.confidence, "cluster": "document"},
        }


def _recall(total: float, found: float, drawn: NDArray[np.float64], resampling: ResamplingSettings) -> GroupRecall:
    return GroupRecall(
        total=int(total), found=int(found), recall=float(found / total) if total else None, ci=percentiles(drawn, resampling.confidence)
    )


def _gap(groups: Mapping[str, GroupRecall], drawn: Mapping[str, NDArray[np.float64]], resampling: ResamplingSettings) -> Gap | None:
    """Return the gap between the groups that are furthest apart in the data (not anew in each resample, which could never be 0)."""
    known = [(one.recall, name) for name, one in groups.items() if one.recall is not None]
    if len(known) < 2:
        return None
    best, worst = max(known, key=lambda one: one[0]), min(reversed(known), key=lambda one: one[0])
    interval = percentiles(drawn[best[1]] - drawn[worst[1]], resampling.confidence)
    if interval is None:  # one group or the other is missing in every resample
        return None
    return Gap(best=best[1], worst=worst[1], value=best[0] - worst[0], ci=interval)


class BiasCollector:
    """A ``Collector`` of the recall of one type by group of names.

    ``multiset``: of equal strings of a document, as many gold mentions count as found as there are predictions of the string.
    ``membership``: all of them do if there is one. Predictions of other types play no part. Memory depends on how many different rows
    of counts there are, not on the number of documents.
    """

    def __init__(self, entity_type: str, match: Match = "multiset", groups: NameGroups | None = None) -> None:
        self.entity_type = entity_type
        self.match = match
        self._groups = groups if groups is not None else NameGroups()
        self._column = {key: 2 * place for place, key in enumerate(GROUPS, start=1)}
        self._rows: Counter[tuple[int, ...]] = Counter()
        self._left_out: Counter[tuple[Axis, str]] = Counter()
        self._tied: Counter[Axis] = Counter()
        self._types: Counter[str] = Counter()

    def add(self, pair: Pair) -> None:
        """Count one pair."""
        wanted, given = self._strings(pair.gold), self._strings(pair.found)
        row = [0] * (2 + 2 * len(GROUPS))  # (total, found) of all, and of each group
        for text, total in wanted.items():
            found = min(total, given[text]) if self.match == "multiset" else total * (text in given)
            for column in (0, *self._columns(text, total)):
                row[column] += total
                row[column + 1] += found
        self._rows[tuple(row)] += 1
        self._types.update({one.entity_type for one in pair.gold.mentions if one.entity_type is not None})

    def _strings(self, document: AnnotatedDocument) -> Counter[str]:
        return Counter(one.text for one in document.mentions if one.entity_type == self.entity_type)

    def _columns(self, text: str, total: int) -> list[int]:
        columns = []
        for axis, one in self._groups.of(text).items():
            if one.group is None:
                self._left_out[axis, one.reason or ""] += total
            else:
                columns.append(self._column[axis, one.group])
                self._tied[axis] += total * one.tied
        return columns

    def figures(self, resampling: ResamplingSettings = _RESAMPLING) -> BiasFigures:
        """Return recall by group with intervals; what is drawn are documents.

        Raises ``UsageError``, naming the types that there are, if no gold mention is of the type.
        """
        if self.entity_type not in self._types:
            known = sorted(self._types)
            more = f" and {len(known) - _SHOWN:,} more" if len(known) > _SHOWN else ""
            remedy = f"Types of the gold file: {', '.join(known[:_SHOWN]) or 'none'}{more}"
            raise UsageError(f"no gold mention is of the type {self.entity_type!r}", where="--bias", remedy=remedy)
        distinct = sorted(self._rows)
        counts = np.array(distinct, dtype=float)
        documents = np.array([self._rows[row] for row in distinct], dtype=np.int64)
        totals = documents @ counts
        drawn = resampled_multiples(counts, documents, rounds=resampling.resamples, seed=resampling.seed)
        recalls = np.divide(drawn[:, 1::2], drawn[:, 0::2], out=np.full((len(drawn), 1 + len(GROUPS)), np.nan), where=drawn[:, 0::2] > 0)
        of = [_recall(totals[2 * at], totals[2 * at + 1], recalls[:, at], resampling) for at in range(1 + len(GROUPS))]
        groups = {axis: {group: of[at] for at, (one, group) in enumerate(GROUPS, start=1) if one == axis} for axis in AXES}
        columns = {key: recalls[:, at] for at, key in enumerate(GROUPS, start=1)}
        return BiasFigures(
            entity_type=self.entity_type,
            match=self.match,
            index=self._groups.source,
            documents=int(documents.sum()),
            overall=of[0],
            groups=groups,
            gaps={axis: _gap(groups[axis], {name: columns[axis, name] for name in groups[axis]}, resampling) for axis in AXES},
            left_out={axis: {reason: self._left_out[axis, reason] for reason in reasons} for axis, reasons in REASONS.items()},
            tied={axis: self._tied[axis] for axis in AXES},
            resampling=resampling,
        )


def bias_table(figures: BiasFigures) -> ReportTable:
    """Return recall by group, with the largest gap and what was left out, of each axis."""
    rows: list[tuple[str, ...]] = [("", "all names", *_cells(figures.overall))]
    for axis, groups in figures.groups.items():
        rows += [(axis if not place else "", name, *_cells(one)) for place, (name, one) in enumerate(groups.items())]
        rows += _of_axis(figures, axis)
    how = figures.resampling
    return ReportTable(
        title=f"bias: {figures.match}",
        columns=("by", "group", "mentions", "found", "recall", f"{how.confidence:.0%} interval"),
        rows=tuple(rows),
        note=_NOTE.format(confidence=how.confidence, rounds=count(how.resamples), index=figures.index),
        texts=2,
    )


def _of_axis(figures: BiasFigures, axis: Axis) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    gap = figures.gaps[axis]
    if gap is not None:
        rows.append(("", f"gap {gap.best} − {gap.worst}", "", "", f"{gap.value:+.3f}", _interval(gap.ci)))
    rows += [
        ("", f"left out: {_REASONS[reason]}", count(number), "", "", "") for reason, number in figures.left_out[axis].items() if number
    ]
    if figures.tied[axis]:
        rows.append(("", "as likely of another group", count(figures.tied[axis]), "", "", ""))
    return rows


def _cells(one: GroupRecall) -> tuple[str, ...]:
    return count(one.total), count(one.found), as_decimal(one.recall), _interval(one.ci)


def _interval(ci: Interval | None) -> str:
    return NOTHING if ci is None else f"{ci.low:.3f} to {ci.high:.3f}"


def bias_plot(figures: BiasFigures) -> Plot:
    """Return recall with its interval by group, a panel an axis; the line is the recall of all names. Needs matplotlib."""
    from matplotlib.ticker import PercentFormatter

    from piiloom.evaluation.plots import BLUE, ORANGE, draw_plot

    def fill(figure: Figure) -> None:
        widths = [1 + len(groups) for groups in figures.groups.values()]
        panels = figure.subplots(1, len(widths), sharey=True, squeeze=False, width_ratios=widths)[0]
        for panel, (axis, groups) in zip(panels, figures.groups.items(), strict=True):
            for place, one in enumerate(groups.values()):
                if one.recall is not None and one.ci is not None:
                    panel.plot([place, place], [one.ci.low, one.ci.high], color=BLUE, lw=2.2, solid_capstyle="butt")
                    panel.plot([place], [one.recall], "o", color=BLUE)
            panel.set_xticks(range(len(groups)), [f"{name}\n{one.total:,}" for name, one in groups.items()], fontsize=9)
            panel.set_xlim(-0.6, len(groups) - 0.4)
            panel.set_title(axis)
            if figures.overall.recall is not None:
                panel.axhline(figures.overall.recall, color=ORANGE, ls="--", lw=1.4)
        panels[0].set_ylim(0, 1.05)
        panels[0].set_ylabel(f"recall of {short(figures.entity_type, 24)}")
        panels[0].yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))

    return draw_plot("bias", f"Recall of {short(figures.entity_type)} by group ({figures.match})", 3.2, fill)
