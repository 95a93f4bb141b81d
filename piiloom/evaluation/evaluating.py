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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from pydantic import field_validator, model_validator

from piiloom.evaluation.bias import BiasCollector, BiasFigures, Match, bias_plot
from piiloom.evaluation.cost import CostFigures, estimated_costs, usage_costs
from piiloom.evaluation.gallery.counts import ErrorCounts, write_confusion
from piiloom.evaluation.gallery.page import DEFAULT_LIMIT, GalleryCollector, write_gallery
from piiloom.evaluation.inputs.documents import NEEDS, Collector, InputsSummary, Needs
from piiloom.evaluation.inputs.opening import READING, PairSettings, open_pairs
from piiloom.evaluation.schemes.base import FIGURES, NO_TYPE, Scheme, SchemeSettings, asks_predicted_types, asks_types, figures_of, is_count
from piiloom.evaluation.schemes.capid import CapidScheme, relevance_warnings
from piiloom.evaluation.schemes.masking import ContrastGroups
from piiloom.evaluation.schemes.precision_recall import MODES, NervaluateScheme
from piiloom.evaluation.schemes.registry import BY_TYPE, DEFAULT_SCHEME, SCHEME_HELP, make_schemes
from piiloom.evaluation.scoring.counts import Clusters, CountTable, GroupFigures, Groups, GroupWeight, mean_over_groups
from piiloom.evaluation.scoring.resampling import UNCERTAINTY, Interval, ResamplingSettings, cluster_sums, end_columns, ends, intervals
from piiloom.foundation.errors import UsageError
from piiloom.foundation.frames import Framed, Row
from piiloom.foundation.settings import Converted, OptionalPath, setting
from piiloom.foundation.whole_files import check_folder, drafted, new_folders, output_errors

VIEWS: Final = "More views"


class EvaluationSettings(PairSettings, SchemeSettings, ResamplingSettings):
    """Settings of an evaluation. Raises ``UsageError`` for settings that contradict each other."""

    panels = (FIGURES, VIEWS, UNCERTAINTY, READING)

    schemes: Converted[tuple[str, ...], str | Sequence[str]] = setting(
        (DEFAULT_SCHEME,), SCHEME_HELP, flags="--scheme", metavar="NAME,…", panel=FIGURES, kind=list[str]
    )
    by: str | None = setting(
        None, "Also give figures by locale, or by a kind of group keys (story, pair …), and their mean.", metavar="KIND", panel=VIEWS
    )
    weight: GroupWeight = setting("documents", "Weight of a group in that mean.", panel=VIEWS, advanced=True)
    bias: str | None = setting(None, "Recall of this type of names by gender and region of the names.", metavar="TYPE", panel=VIEWS)
    bias_match: Match = setting("multiset", "Whether equal names of a document are found one by one.", panel=VIEWS, advanced=True)
    usage: OptionalPath = setting(
        None, "Tokens that the predictions took, one document per row: for their cost.", metavar="FILE", panel=VIEWS
    )
    model: str | None = setting(None, "Estimate the cost of predictions by this model.", metavar="NAME", panel=VIEWS)
    out: OptionalPath = setting(
        None,
        "Folder for figures, errors and plots, and a page of the errors in their text.",
        flags="--out -o",
        metavar="DIR",
        panel=VIEWS,
    )
    gallery_limit: int | None = setting(None, "Most documents on that page.", metavar="N", panel=VIEWS, ge=1, advanced=True)
    force: bool = setting(False, "Replace an earlier evaluation in --out.", panel=VIEWS)

    @field_validator("schemes", mode="before")
    @classmethod
    def _listed(cls, given: str | Sequence[str]) -> tuple[str, ...]:
        return tuple(word.strip() for text in ([given] if isinstance(given, str) else given) for word in text.split(",") if word.strip())

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.bias is not None and self.resamples == 1:
            raise UsageError("an interval of --bias needs at least 2 resamples", where="--resamples", remedy="1,000 is usual")
        if self.usage is not None and self.model is not None:
            raise UsageError("--usage and --model both give the cost of the predictions", remedy="Give one of them")
        if self.gallery_limit is not None and self.out is None:
            raise UsageError("without --out there is no page", where="--gallery-limit", remedy="Name a folder with --out")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemeFigures:
    """The figures of one scheme; ``intervals`` are None with fewer than two clusters, and empty if none were asked for.

    By type, precision and F are None if no prediction states a type, and so are accuracies of types everywhere.
    """

    scheme: Scheme
    overall: Mapping[str, float | None]
    by_type: Mapping[str, Mapping[str, float | None]]
    intervals: Mapping[str, Interval | None]
    groups: tuple[GroupFigures, ...] = ()
    mean: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastFigures:
    """How consistently relevance changes within the groups of records of one text (``ContrastGroups``)."""

    figures: Mapping[str, float]
    intervals: Mapping[str, Interval | None]
    groups: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation(Framed):
    """All figures. ``clusters`` and ``keyed``: how many clusters there are, and documents that have a key of their kind.

    ``without_group``: documents that are in no group; ``contrast``, ``bias`` and ``cost`` are None if they were not asked for, or there
    are no contrast groups. ``files`` were written to the folder ``settings.out``.
    """

    inputs: InputsSummary
    settings: EvaluationSettings
    documents: int
    clusters: int
    keyed: int
    without_group: int
    schemes: tuple[SchemeFigures, ...]
    contrast: ContrastFigures | None
    bias: BiasFigures | None = None
    cost: CostFigures | None = None
    files: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return warnings about inputs that change the meaning of a figure."""
        sides = {"the gold file": self.inputs.gold, "the predictions": self.inputs.found}
        return relevance_warnings(sides) if any(one.scheme.name == CapidScheme.name for one in self.schemes) else ()

    def of(self, scheme: str) -> SchemeFigures:
        """Return the figures of the scheme of this name; raises ``UsageError`` if it was not asked for."""
        for one in self.schemes:
            if one.scheme.name == scheme:
                return one
        raise UsageError(
            f"there are no figures of the scheme {scheme!r}", remedy=f"Of: {', '.join(one.scheme.name for one in self.schemes)}"
        )

    def frame_rows(self) -> Iterator[Row]:
        """Return the figures of each scheme: a row for all of it, one for each type, and one for each group of documents."""
        for one in self.schemes:
            head = {"scheme": one.scheme.name}
            yield head | {"of": "all", "name": "all", **one.overall, **end_columns(one.intervals)}
            for name, figures in one.by_type.items():
                yield head | {"of": "type", "name": name, **figures}
            for group in one.groups:
                yield head | {"of": str(self.settings.by), "name": group.name, **group.figures, **end_columns(group.intervals)}

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON values. With one scheme its figures stand at the top, with several under its name in ``schemes``."""
        inputs, settings = self.inputs, self.settings
        found: dict[str, Any] = {"gold": inputs.gold.file, "predictions": inputs.found.file, "documents": self.documents}
        found["clusters"] = {"by": settings.cluster, "clusters": self.clusters, "documents_with_key": self.keyed}
        if settings.resamples:
            found["bootstrap"] = {"resamples": settings.resamples, "confidence": settings.confidence, "seed": settings.seed}
        schemes = {one.scheme.name: _scheme(one, self) for one in self.schemes}
        if len(schemes) == 1:
            name, figures = next(iter(schemes.items()))
            found |= {"scheme": name, **figures}
        elif schemes:
            found["schemes"] = schemes
        if self.contrast is not None:
            one = self.contrast
            found["contrast"] = {"groups": one.groups, **one.figures, "intervals": _intervals(one.intervals)}
        found |= {"warnings": list(self.warnings), "inputs": inputs.to_json()}
        return found | {name: view.to_json() for name, view in (("bias", self.bias), ("cost", self.cost)) if view is not None}


def _scheme(one: SchemeFigures, evaluation: Evaluation) -> dict[str, Any]:
    found: dict[str, Any] = {
        "metrics": {
            "overall": whole_counts(one.overall),
            "by_type": {name: whole_counts(figures) for name, figures in one.by_type.items()},
        },
    }
    if one.scheme.name == NervaluateScheme.name:
        found["modes"] = {mode: _of_mode(found["metrics"], mode) for mode in MODES}
    if one.scheme.name == CapidScheme.name:
        # It has no counts of its own kind: its figures also stand where one looks for them first.
        found["metrics"] |= found["metrics"]["overall"]
    if one.intervals:
        found["intervals"] = _intervals(one.intervals)
    if evaluation.settings.by is not None:
        found["groups"] = {
            "by": evaluation.settings.by,
            "without": evaluation.without_group,
            "figures": {group.name: group.to_json() for group in one.groups},
            "weight": evaluation.settings.weight,
            "mean": dict(one.mean),
        }
    return found


def _of_mode(metrics: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Return the figures of one mode of nervaluate under their plain names."""
    return {
        "overall": _unprefixed(metrics["overall"], mode),
        "by_type": {name: _unprefixed(figures, mode) for name, figures in metrics["by_type"].items()},
    }


def _unprefixed(figures: Mapping[str, Any], mode: str) -> dict[str, Any]:
    prefixed = {name.removeprefix(f"{mode}_"): value for name, value in figures.items() if name.startswith(f"{mode}_")}
    plain = {name: value for name, value in figures.items() if not name.startswith(tuple(f"{one}_" for one in MODES))}
    return plain | prefixed if mode == "strict" else prefixed


def whole_counts(figures: Mapping[str, float | None]) -> dict[str, float | int | None]:
    """Return *figures* with counts as whole numbers, unless halves are counted."""
    return {name: int(value) if value is not None and is_count(name) and value.is_integer() else value for name, value in figures.items()}


def _intervals(found: Mapping[str, Interval | None]) -> dict[str, list[float] | None]:
    return {name: ends(one) for name, one in found.items()}


FIGURES_FILE, PAGE, ERRORS, CONFUSION, PLOTS = "evaluation.json", "errors.html", "errors.jsonl", "confusion.csv", "plots"
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
        (drafts / FIGURES_FILE).write_bytes(text.encode("utf-8", "replace"))
        (out / FIGURES_FILE).unlink(missing_ok=True)
        for name in (*names, FIGURES_FILE):
            (out / name).parent.mkdir(exist_ok=True)
            (drafts / name).replace(out / name)
    return FIGURES_FILE, *names


def _write_plots(folder: Path, counts: ErrorCounts, bias: BiasFigures | None) -> list[Path]:
    try:
        from piiloom.evaluation.plots import error_plots, write_plot
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
            passes.append(_Pass(gold, found, need, wanted, collectors[need], settings, watch))
    first = next((each for each in passes if each.tables), passes[0])
    by_name = {table.scheme.name: each.figures(table) for each in passes for table in each.tables}
    return Evaluation(
        inputs=first.summary,
        settings=settings,
        documents=len(first.clusters.documents),
        clusters=1 + int(first.cluster_of.max(initial=-1)),
        keyed=first.clusters.keyed,
        without_group=first.groups.without if first.groups else 0,
        schemes=tuple(by_name[scheme.name] for scheme in schemes),
        contrast=next((_contrast(each.contrast, settings) for each in passes if each.contrast is not None), None),
    )


def _contrast(held: ContrastGroups, settings: EvaluationSettings) -> ContrastFigures | None:
    if not len(held.rows):
        return None
    figures = figures_of(held, held.rows.sum(axis=0))
    return ContrastFigures(figures=figures, intervals=intervals(held, held.rows, settings), groups=len(held.rows))


class _Pass:
    """One pass over both files."""

    def __init__(
        self,
        gold: Path,
        found: Path,
        needs: Needs,
        schemes: Sequence[Scheme],
        others: Sequence[Collector],
        settings: EvaluationSettings,
        watch: DocumentWatch | None,
    ) -> None:
        self._settings = settings
        self.tables = [CountTable(scheme) for scheme in schemes]
        self.clusters = Clusters(settings.cluster)
        self.groups = None if settings.by is None else Groups(settings.by)
        self.contrast = ContrastGroups() if any(scheme.name == "privacy" for scheme in schemes) else None
        own = (self.clusters, self.groups, self.contrast)
        collectors: list[Collector] = [*self.tables, *(one for one in own if one is not None), *others]
        if not schemes:  # values that are not in the text can't be shown there; the schemes had them as values
            settings = settings.model_copy(update={"skip_values": True})
        placed, matter = needs == "places" and bool(schemes), any(scheme.name in BY_TYPE for scheme in schemes)
        pairs, self.summary = open_pairs(gold, found, settings, needs, offsets=placed, types_matter=matter)
        for number, pair in enumerate(pairs, start=1):
            for collector in collectors:
                collector.add(pair)
            if watch is not None and number % _TOLD_EVERY == 0:
                watch(number)
        self.cluster_of = self.clusters.numbers()

    def figures(self, table: CountTable) -> SchemeFigures:
        """Return the figures of one scheme."""
        scheme, settings = table.scheme, self._settings
        groups: tuple[GroupFigures, ...] = ()
        if self.groups is not None:
            groups = self.groups.figures(scheme, table.rows, clusters=self.cluster_of, resampling=settings)
        by_type = {name: figures_of(scheme, row) for name, row in table.by_type.items()}
        return SchemeFigures(
            scheme=scheme,
            overall=self._stated(table.overall(), asks_types),
            by_type={
                name: figures if name == NO_TYPE else self._stated(self._stated(figures, asks_types), asks_predicted_types)
                for name, figures in by_type.items()
            },
            intervals=self._stated(intervals(scheme, cluster_sums(table.rows, self.cluster_of), settings), asks_types),
            groups=groups,
            mean=mean_over_groups(scheme, groups, settings.weight),
        )

    def _stated(self, figures: Mapping[str, T], asks: Callable[[str], bool]) -> dict[str, T | None]:
        """Return *figures*, without those of which *asks* says that they need types, if no prediction states one."""
        return {name: None if self.summary.found.untyped and asks(name) else value for name, value in figures.items()}
