"""Evaluate predictions: read both files in one pass, count under each scheme, and make figures of the counts.

Schemes that compare values and schemes that compare places need other readings of the same files, so with both there are two passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from piiloom.evaluation.bias.collecting import BiasCollector
from piiloom.evaluation.cost.costing import CostCollector, model_source, usage_source
from piiloom.evaluation.evaluation_figures import ContrastFigures, Evaluation, EvaluationSettings, SchemeFigures
from piiloom.evaluation.evaluation_folder import EvaluationFolder
from piiloom.evaluation.gallery.collector import DEFAULT_LIMIT, GalleryOptions
from piiloom.evaluation.inputs.documents import NEEDS, Needs
from piiloom.evaluation.inputs.opening import open_pairs
from piiloom.evaluation.inputs.summary import InputsSummary
from piiloom.evaluation.schemes.base import NO_TYPE, Scheme, asks_predicted_types, asks_types, figures_of
from piiloom.evaluation.schemes.registry import BY_TYPE, make_schemes
from piiloom.evaluation.scoring.bootstrap import Resampling, cluster_sums, intervals
from piiloom.evaluation.scoring.clusters import Clusters
from piiloom.evaluation.scoring.collector import Collector
from piiloom.evaluation.scoring.contrast_groups import ContrastGroups
from piiloom.evaluation.scoring.count_table import CountTable
from piiloom.evaluation.scoring.groups import GroupFigures, Groups, mean_over_groups

T = TypeVar("T")
# Called with the number of documents read so far, every so many documents.
Watch = Callable[[int], None]
_TOLD_EVERY = 1_000


def evaluate(gold: Path, found: Path, settings: EvaluationSettings, watch: Watch | None = None) -> Evaluation:
    """Evaluate the predictions *found* against *gold*, and write the folder ``settings.out`` if it is named.

    Raises ``UsageError``, ``DataError`` and ``OutputError``; then nothing is written.
    """
    schemes = make_schemes(settings.schemes, settings)
    bias = None if settings.bias is None else BiasCollector(settings.bias, settings.bias_match)
    cost = _cost(settings)
    with ExitStack() as stack:
        collectors: dict[Needs, list[Collector]] = {need: [] for need in NEEDS}
        needed = next(need for need in NEEDS if any(scheme.needs == need for scheme in schemes))
        collectors[needed] += [one for one in (bias, cost) if one is not None]
        folder = None
        if settings.out is not None:
            options = GalleryOptions(limit=settings.gallery_limit or DEFAULT_LIMIT, seed=settings.seed)
            folder = stack.enter_context(EvaluationFolder(settings.out, options, force=settings.force))
            collectors["places"].append(folder.gallery)  # errors are shown in their places
        evaluation = _evaluated(gold, found, schemes, settings, collectors, watch)
        if bias is not None:  # its figures have intervals in any case
            usual = settings if settings.resamples else settings.model_copy(update={"resamples": Resampling().resamples})
            evaluation = replace(evaluation, bias=bias.figures(usual))
        if cost is not None:
            evaluation = replace(evaluation, cost=cost.figures())
        if folder is not None:
            title = f"Errors of {Path(evaluation.inputs.found.file).name}"
            files = folder.write(evaluation.to_json(), title=title, bias=evaluation.bias)
            evaluation = replace(evaluation, files=tuple(files))
    return evaluation


def _cost(settings: EvaluationSettings) -> CostCollector | None:
    if settings.usage is not None:
        return CostCollector(usage_source(settings.usage))
    return None if settings.model is None else CostCollector(model_source(settings.model))


def _evaluated(
    gold: Path,
    found: Path,
    schemes: Sequence[Scheme],
    settings: EvaluationSettings,
    collectors: Mapping[Needs, Sequence[Collector]],
    watch: Watch | None,
) -> Evaluation:
    """Return the figures of all *schemes*; *collectors* see the same pairs."""
    passes: list[_Pass] = []
    for need in NEEDS:
        wanted = [scheme for scheme in schemes if scheme.needs == need]
        if wanted or collectors[need]:
            passes.append(_Pass(wanted, collectors[need], settings))
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
        settings = self._settings
        if not self._tables:  # values that are not in the text can't be shown there; the schemes had them as values
            settings = settings.model_copy(update={"skip_values": True})
        pairs, self.summary = open_pairs(gold, found, settings, needs, offsets=placed, types_matter=matter)
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
        held = self.contrast
        if held is None or not len(held.rows):
            return None
        return ContrastFigures(
            figures=figures_of(held, held.rows.sum(axis=0)),
            intervals=intervals(held, held.rows, self._settings),
            groups=len(held.rows),
        )

    def _of_type(self, name: str, figures: Mapping[str, float]) -> Mapping[str, float | None]:
        """Return *figures* of the type *name*, without those that no prediction can have if none of them states a type."""
        if name == NO_TYPE:
            return figures
        untyped = self.summary.found.untyped
        return {one: None if untyped and asks_predicted_types(one) else value for one, value in self._of_all(figures).items()}

    def _of_all(self, figures: Mapping[str, T]) -> dict[str, T | None]:
        """Return *figures*, without those of types if no prediction states a type."""
        return {one: None if self.summary.found.untyped and asks_types(one) else value for one, value in figures.items()}

    def _figures(self, table: CountTable) -> SchemeFigures:
        scheme, settings = table.scheme, self._settings
        groups: tuple[GroupFigures, ...] = ()
        if self.groups is not None:
            groups = self.groups.figures(scheme, table.rows, clusters=self._cluster_of, resampling=settings)
        return SchemeFigures(
            scheme=scheme,
            overall=self._of_all(table.overall()),
            by_type={name: self._of_type(name, figures_of(scheme, row)) for name, row in table.by_type.items()},
            intervals=self._of_all(intervals(scheme, cluster_sums(table.rows, self._cluster_of), settings)),
            groups=groups,
            mean=mean_over_groups(scheme, groups, settings.weight),
        )
