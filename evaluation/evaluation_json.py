"""An evaluation as JSON values, unrounded.

With one scheme its figures stand at the top, with several each under its name in ``schemes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piiloom.evaluation.evaluating import ContrastFigures, Evaluation, SchemeFigures
from piiloom.evaluation.schemes.nervaluate_modes import MODES, NervaluateScheme
from piiloom.evaluation.scoring.bootstrap import Interval

_OF_MENTIONS = ("tp", "fp", "fn", "correct", "incorrect", "partial", "missed", "spurious")
_OF_VALUES = ("samples", "gold", "predicted", "matched", "exact", "malformed")
_COUNTS = frozenset((*_OF_MENTIONS, *_OF_VALUES))


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return all of *evaluation*."""
    inputs, settings = evaluation.inputs, evaluation.settings
    found: dict[str, Any] = {"gold": inputs.gold.file, "predictions": inputs.found.file, "documents": evaluation.documents}
    found["clusters"] = {"by": settings.cluster, "clusters": evaluation.clusters, "documents_with_key": evaluation.keyed}
    if settings.resampling is not None:
        resampling = settings.resampling
        found["bootstrap"] = {"resamples": resampling.rounds, "confidence": resampling.confidence, "seed": resampling.seed}
    schemes = {one.scheme.name: _scheme(one, evaluation) for one in evaluation.schemes}
    if len(schemes) == 1:
        name, figures = next(iter(schemes.items()))
        found |= {"scheme": name, **figures}
    elif schemes:
        found["schemes"] = schemes
    if evaluation.contrast is not None:
        found["contrast"] = _contrast(evaluation.contrast)
    return found | {"inputs": inputs.to_json()}


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


def is_count(name: str) -> bool:
    """Whether the figure *name* of some scheme is a count and no share."""
    return name in _COUNTS or name.partition("_")[2] in _COUNTS


def _contrast(one: ContrastFigures) -> dict[str, Any]:
    return {"groups": one.groups, **one.figures, "intervals": _intervals(one.intervals)}


def _intervals(found: Mapping[str, Interval | None]) -> dict[str, list[float] | None]:
    return {name: None if one is None else [one.low, one.high] for name, one in found.items()}
