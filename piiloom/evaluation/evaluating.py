"""Evaluate predictions: read both files in one pass, count under each scheme, make figures of the counts, and write the folder.

Schemes that compare values and schemes that compare places need other readings of the same files, so with both there are two passes.
All files are written to a folder of drafts, ``errors.jsonl`` while the documents are read, and moved to their place when all of them are
complete. ``evaluation.json`` comes last, so a folder that has it is complete.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from piiloom.evaluation.bias import BiasCollector, BiasFigures
from piiloom.evaluation.cost import estimated_costs, usage_costs
from piiloom.evaluation.evaluation_figures import ContrastFigures, Evaluation, EvaluationSettings, SchemeFigures
from piiloom.evaluation.gallery.collector import DEFAULT_LIMIT, GalleryCollector
from piiloom.evaluation.gallery.counts import ErrorCounts, write_confusion
from piiloom.evaluation.gallery.page import write_gallery
from piiloom.evaluation.inputs.documents import NEEDS, Collector, InputsSummary, Needs
from piiloom.evaluation.inputs.opening import open_pairs
from piiloom.evaluation.schemes.base import NO_TYPE, Scheme, asks_predicted_types, asks_types, figures_of
from piiloom.evaluation.schemes.masking import ContrastGroups
from piiloom.evaluation.schemes.registry import BY_TYPE, make_schemes
from piiloom.evaluation.scoring.clusters import Clusters
from piiloom.evaluation.scoring.counts import CountTable, GroupFigures, Groups, mean_over_groups
from piiloom.evaluation.scoring.resampling import ResamplingSettings, cluster_sums, intervals
from piiloom.foundation.whole_files import check_folder, drafted, new_folders, output_errors

FIGURES, PAGE, ERRORS, CONFUSION, PLOTS = "evaluation.json", "errors.html", "errors.jsonl", "confusion.csv", "plots"
_DRAFTS = ".evaluation.part"


T = TypeVar("T")
# Called with the number of documents read so far, every so many documents.
DocumentWatch = Callable[[int], None]
_TOLD_EVERY = 1_000


def run_evaluation(gold: Path, found: Path, settings: EvaluationSettings, watch: DocumentWatch | None = None) -> Evaluation:
    """Evaluate the predictions *found* against *gold*, and write the folder ``settings.out`` if it is named.

    Raises ``UsageError``, ``DataError`` and ``OutputError``; then nothing is written.
    """
    schemes = make_schemes(settings.schemes, settings)
    bias = None if settings.bias is None else BiasCollector(settings.bias, settings.bias_match)
    cost = (
        usage_costs(settings.usage) if settings.usage is not None else None if settings.model is None else estimated_costs(settings.model)
    )
    with ExitStack() as whole:
        collectors: dict[Needs, list[Collector]] = {need: [] for need in NEEDS}
        needed = next(need for need in NEEDS if any(scheme.needs == need for scheme in schemes))
        collectors[needed] += [one for one in (bias, cost) if one is not None]
        with ExitStack() as reading:
            if settings.out is not None:
                drafts = whole.enter_context(_draft_folder(settings.out, force=settings.force))
                log = reading.enter_context(drafted(drafts / ERRORS))
                gallery = GalleryCollector(limit=settings.gallery_limit or DEFAULT_LIMIT, seed=settings.seed, log=log)
                collectors["places"].append(gallery)  # errors are shown in their places
            evaluation = _evaluated(gold, found, schemes, settings, collectors, watch)
        if bias is not None:  # its figures have intervals in any case
            usual = settings if settings.resamples else settings.model_copy(update={"resamples": ResamplingSettings().resamples})
            evaluation = replace(evaluation, bias=bias.figures(usual))
        if cost is not None:
            evaluation = replace(evaluation, cost=cost.figures())
        if settings.out is not None:
            evaluation = replace(evaluation, files=_write(settings.out, drafts, evaluation, gallery))
    return evaluation


@contextmanager
def _draft_folder(out: Path, *, force: bool) -> Iterator[Path]:
    """Give a folder of drafts in *out*. After an error, *out* is as it was, and not there if it was not there before.

    Raises ``OutputError`` if *out* can't be written.
    """
    check_folder(out, force=force)
    drafts = out / _DRAFTS
    with ExitStack() as stack:
        with output_errors(out):
            stack.enter_context(new_folders([out]))
            shutil.rmtree(drafts, ignore_errors=True)  # what a killed evaluation left
            stack.callback(shutil.rmtree, drafts, ignore_errors=True)
        yield drafts


def _write(out: Path, drafts: Path, evaluation: Evaluation, gallery: GalleryCollector) -> tuple[str, ...]:
    """Write the other files, move all of them from *drafts* to *out*, and return their names. Without matplotlib there are no plots."""
    write_confusion(drafts / CONFUSION, gallery.counts)
    write_gallery(drafts / PAGE, gallery, f"Errors of {Path(evaluation.inputs.found.file).name}")
    names = [PAGE, ERRORS, CONFUSION, *(f"{PLOTS}/{path.name}" for path in _write_plots(drafts / PLOTS, gallery.counts, evaluation.bias))]
    with output_errors(out):
        text = json.dumps(evaluation.to_json(), ensure_ascii=False, indent=2) + "\n"
        (drafts / FIGURES).write_bytes(text.encode("utf-8", "replace"))
        (out / FIGURES).unlink(missing_ok=True)
        for name in (*names, FIGURES):
            (out / name).parent.mkdir(exist_ok=True)
            (drafts / name).replace(out / name)
    return FIGURES, *names


def _write_plots(folder: Path, counts: ErrorCounts, bias: BiasFigures | None) -> list[Path]:
    try:
        from piiloom.evaluation.plots import bias_plot, error_plots, write_plot
    except ImportError:
        return []
    plots = [*error_plots(counts), *([] if bias is None else [bias_plot(bias)])]
    return [path for plot in plots for path in write_plot(folder, plot)]


def _evaluated(
    gold: Path,
    found: Path,
    schemes: Sequence[Scheme],
    settings: EvaluationSettings,
    collectors: Mapping[Needs, Sequence[Collector]],
    watch: DocumentWatch | None,
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

    def read(self, gold: Path, found: Path, needs: Needs, watch: DocumentWatch | None) -> None:
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
