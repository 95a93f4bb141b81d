"""Count, in one pass over the pairs, how many mentions of a type were found in each group of names."""

from __future__ import annotations

from collections import Counter
from typing import Final, Literal

from piiloom.evaluation.bias.figures import BiasFigures, bias_figures
from piiloom.evaluation.bias.name_groups import AXES, REASONS, Axis, NameGroups
from piiloom.evaluation.inputs.documents import Document, Pair
from piiloom.evaluation.scoring.bootstrap import Resampling
from piiloom.foundation.errors import UsageError

Match = Literal["multiset", "membership"]
# Groups of all axes, in the order of the columns; the first column is that of all mentions, in a group or not.
GROUPS: Final[tuple[tuple[Axis, str], ...]] = tuple((axis, group) for axis, groups in AXES.items() for group in groups)
_RESAMPLING: Final = Resampling()
_SHOWN: Final = 12


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

    def _strings(self, document: Document) -> Counter[str]:
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

    def figures(self, resampling: Resampling = _RESAMPLING) -> BiasFigures:
        """Return recall by group with intervals; what is drawn are documents.

        Raises ``UsageError``, naming the types that there are, if no gold mention is of the type.
        """
        if self.entity_type not in self._types:
            known = sorted(self._types)
            more = f" and {len(known) - _SHOWN:,} more" if len(known) > _SHOWN else ""
            remedy = f"Types of the gold file: {', '.join(known[:_SHOWN]) or 'none'}{more}"
            raise UsageError(f"no gold mention is of the type {self.entity_type!r}", where="--bias", remedy=remedy)
        return bias_figures(
            self._rows,
            GROUPS,
            entity_type=self.entity_type,
            match=self.match,
            index=self._groups.source,
            left_out={axis: {reason: self._left_out[axis, reason] for reason in reasons} for axis, reasons in REASONS.items()},
            tied={axis: self._tied[axis] for axis in AXES},
            resampling=resampling,
        )
