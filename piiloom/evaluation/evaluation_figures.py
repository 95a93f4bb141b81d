"""What an evaluation finds: all figures, and as JSON values, unrounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from piiloom.evaluation.bias.figures import BiasFigures
from piiloom.evaluation.cost.cost_figures import CostFigures
from piiloom.evaluation.inputs.opening import InputOptions
from piiloom.evaluation.inputs.summary import InputsSummary
from piiloom.evaluation.schemes.base import Scheme, is_count
from piiloom.evaluation.schemes.nervaluate_modes import MODES, NervaluateScheme
from piiloom.evaluation.scoring.bootstrap import Interval, Resampling
from piiloom.evaluation.scoring.groups import GroupFigures, Weight
from piiloom.foundation.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSettings:
    """What to compute.

    ``inputs``: how to read; its ``needs`` are set by the schemes. ``resampling`` None: no intervals. ``cluster``: what a bootstrap draws
    (``Clusters``). ``by``: also figures by "locale" or a kind of group keys (``Groups``), and their mean by ``weight``.
    """

    inputs: InputOptions = field(default_factory=lambda: InputOptions(needs="places"))
    cluster: str = "document"
    resampling: Resampling | None = field(default_factory=Resampling)
    by: str | None = None
    weight: Weight = "documents"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemeFigures:
    """The figures of one scheme; ``intervals`` are None with fewer than two clusters, and empty if none were asked for."""

    scheme: Scheme
    overall: Mapping[str, float]
    by_type: Mapping[str, Mapping[str, float]]
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
class Evaluation:
    """All figures. ``clusters`` and ``keyed``: how many clusters there are, and documents that have a key of their kind.

    ``without_group``: documents that are in no group; ``contrast``, ``bias`` and ``cost`` are None if they were not asked for, or there
    are no contrast groups.
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

    def of(self, scheme: str) -> SchemeFigures:
        """Return the figures of the scheme of this name; raises ``UsageError`` if it was not asked for."""
        for one in self.schemes:
            if one.scheme.name == scheme:
                return one
        raise UsageError(
            f"there are no figures of the scheme {scheme!r}", remedy=f"Of: {', '.join(one.scheme.name for one in self.schemes)}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON values. With one scheme its figures stand at the top, with several under its name in ``schemes``."""
        inputs, settings = self.inputs, self.settings
        found: dict[str, Any] = {"gold": inputs.gold.file, "predictions": inputs.found.file, "documents": self.documents}
        found["clusters"] = {"by": settings.cluster, "clusters": self.clusters, "documents_with_key": self.keyed}
        if settings.resampling is not None:
            resampling = settings.resampling
            found["bootstrap"] = {"resamples": resampling.rounds, "confidence": resampling.confidence, "seed": resampling.seed}
        schemes = {one.scheme.name: _scheme(one, self) for one in self.schemes}
        if len(schemes) == 1:
            name, figures = next(iter(schemes.items()))
            found |= {"scheme": name, **figures}
        elif schemes:
            found["schemes"] = schemes
        if self.contrast is not None:
            found["contrast"] = _contrast(self.contrast)
        found["inputs"] = inputs.to_json()
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
    if one.scheme.name == "capid":
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


def whole_counts(figures: Mapping[str, float]) -> dict[str, float | int]:
    """Return *figures* with counts as whole numbers, unless halves are counted."""
    return {name: int(value) if is_count(name) and value.is_integer() else value for name, value in figures.items()}


def _contrast(one: ContrastFigures) -> dict[str, Any]:
    return {"groups": one.groups, **one.figures, "intervals": _intervals(one.intervals)}


def _intervals(found: Mapping[str, Interval | None]) -> dict[str, list[float] | None]:
    return {name: None if one is None else [one.low, one.high] for name, one in found.items()}
