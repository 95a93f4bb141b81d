"""What an evaluation finds: all figures, and as JSON values, unrounded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from pydantic import field_validator, model_validator

from piiloom.evaluation.bias import BiasFigures, Match
from piiloom.evaluation.cost import CostFigures
from piiloom.evaluation.inputs.documents import InputsSummary
from piiloom.evaluation.inputs.opening import READING, PairSettings
from piiloom.evaluation.schemes.base import FIGURES, Scheme, SchemeSettings, is_count
from piiloom.evaluation.schemes.capid import CapidScheme, relevance_warnings
from piiloom.evaluation.schemes.nervaluate_modes import MODES, NervaluateScheme
from piiloom.evaluation.schemes.registry import DEFAULT_SCHEME, SCHEME_HELP
from piiloom.evaluation.scoring.counts import GroupFigures, GroupWeight
from piiloom.evaluation.scoring.resampling import UNCERTAINTY, Interval, ResamplingSettings, end_columns, ends
from piiloom.foundation.errors import UsageError
from piiloom.foundation.frames import Framed, Row
from piiloom.foundation.settings import Converted, OptionalPath, setting

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
