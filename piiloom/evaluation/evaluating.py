"""Evaluate predictions: read both files in one pass, count under each scheme, and make figures of the counts.

Schemes that compare values and schemes that compare places need other readings of the same files, so with both there are two passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from piiloom.evaluation.evaluation_figures import ContrastFigures, Evaluation, EvaluationSettings, SchemeFigures
from piiloom.evaluation.inputs.documents import NEEDS, Needs
from piiloom.evaluation.inputs.opening import open_pairs
from piiloom.evaluation.inputs.summary import InputsSummary
from piiloom.evaluation.schemes.base import Scheme, figures_of
from piiloom.evaluation.schemes.registry import BY_TYPE
from piiloom.evaluation.scoring.bootstrap import cluster_sums, intervals
from piiloom.evaluation.scoring.clusters import Clusters
from piiloom.evaluation.scoring.collector import Collector
from piiloom.evaluation.scoring.contrast_groups import ContrastGroups
from piiloom.evaluation.scoring.count_table import CountTable
from piiloom.evaluation.scoring.groups import GroupFigures, Groups, mean_over_groups

# Called with the number of documents read so far, every so many documents.
Watch = Callable[[int], None]
_TOLD_EVERY = 1_000


def evaluate(
    gold: Path,
    found: Path,
    schemes: Sequence[Scheme],
    settings: EvaluationSettings,
    *,
    collectors: Mapping[Needs, Sequence[Collector]] | None = None,
    watch: Watch | None = None,
) -> Evaluation:
    """Evaluate the predictions *found* against *gold* under all *schemes*; *collectors* look at the same pairs.

    Raises ``DataError`` and ``UsageError`` for files that cannot be read or do not belong together (``open_pairs``).
    """
    passes: list[_Pass] = []
    others = collectors or {}
    for need in NEEDS:
        wanted = [scheme for scheme in schemes if scheme.needs == need]
        if wanted or others.get(need):
            passes.append(_Pass(wanted, others.get(need, ()), settings))
            passes[-1].read(gold, found, need, watch)
    first = next((each for each in passes if each.has_schemes), passes[0])
    by_name = {one.scheme.name: one for each in passes for one in each.figures()}
    return Evaluation(
        inputs=first.summary,
        settings=settings,
        documents=len(first.clusters.documents),
        clusters=first.count_clusters(),
        keyed=first.clusters.keyed,
        without_group=first.groups.without if first.groups else 0,
        schemes=tuple(by_name[scheme.name] for scheme in schemes),
        contrast=next((each.contrast_figures() for each in passes if each.contrast is not None), None),
    )


class _Pass:
    """One pass over both files."""

    summary: InputsSummary

    def __init__(self, schemes: Sequence[Scheme], others: Sequence[Collector], settings: EvaluationSettings) -> None:
        self._settings = settings
        self._tables = [CountTable(scheme) for scheme in schemes]
        self.clusters = Clusters(settings.cluster)
        self.groups = None if settings.by is None else Groups(settings.by)
        self.contrast = ContrastGroups() if any(scheme.name == "privacy" for scheme in schemes) else None
        own = (self.clusters, self.groups, self.contrast)
        self._collectors: list[Collector] = [*self._tables, *(one for one in own if one is not None), *others]

    @property
    def has_schemes(self) -> bool:
        return bool(self._tables)

    def read(self, gold: Path, found: Path, needs: Needs, watch: Watch | None) -> None:
        matter = any(table.scheme.name in BY_TYPE for table in self._tables)
        placed = needs == "places" and bool(self._tables)
        options = replace(self._settings.inputs, needs=needs, offsets=placed, types_matter=matter)
        if not self._tables:  # values that are not in the text can't be shown there; the schemes had them as values
            options = replace(options, skip_values=True)
        pairs, self.summary = open_pairs(gold, found, options)
        for number, pair in enumerate(pairs, start=1):
            for collector in self._collectors:
                collector.add(pair)
            if watch is not None and number % _TOLD_EVERY == 0:
                watch(number)
        self._cluster_of = self.clusters.numbers()

    def count_clusters(self) -> int:
        return int(self._cluster_of.max()) + 1 if len(self._cluster_of) else 0

    def figures(self) -> list[SchemeFigures]:
        return [self._figures(table) for table in self._tables]

    def contrast_figures(self) -> ContrastFigures | None:
        held, resampling = self.contrast, self._settings.resampling
        if held is None or not len(held.rows):
            return None
        return ContrastFigures(
            figures=figures_of(held, held.rows.sum(axis=0)),
            intervals={} if resampling is None else intervals(held, held.rows, resampling),
            groups=len(held.rows),
        )

    def _figures(self, table: CountTable) -> SchemeFigures:
        scheme, resampling = table.scheme, self._settings.resampling
        groups: tuple[GroupFigures, ...] = ()
        if self.groups is not None:
            groups = self.groups.figures(scheme, table.rows, clusters=self._cluster_of, resampling=resampling)
        return SchemeFigures(
            scheme=scheme,
            overall=table.overall(),
            by_type={name: figures_of(scheme, row) for name, row in table.by_type.items()},
            intervals={} if resampling is None else intervals(scheme, cluster_sums(table.rows, self._cluster_of), resampling),
            groups=groups,
            mean=mean_over_groups(scheme, groups, self._settings.weight),
        )
