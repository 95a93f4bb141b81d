"""A trained detector as a folder, and back. Loading it executes nothing: it is numbers as JSON, and a model file that CRFsuite reads.

``piiloom.json`` has the SHA-256 of the other files. Equal trainings give equal folders.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from piiloom.foundation.errors import DataError
from piiloom.foundation.whole_files import check_folder, write_folder
from piiloom.tagging.calibration import Calibration
from piiloom.tagging.model import RelevanceModel, SpanFinder, TaggingModel
from piiloom.tagging.model_card import AGAIN, CARD, About, card_of, damaged_card, read_about

FAMILY: Final = "probe"
SPANS: Final = "spans.crfsuite"
RELEVANCE: Final = "relevance.json"

FiniteNumber = Annotated[float, Field(allow_inf_nan=False, strict=True)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Curve(_Strict):
    slope: FiniteNumber
    offset: FiniteNumber


class _Curves(_Strict):
    spans: _Curve | None
    relevance: _Curve | None


class _Model(_Strict):
    calibration: _Curves
    files: dict[str, str]
    versions: dict[str, str]


class _Weights(_Strict):
    intercept: FiniteNumber
    weights: dict[str, FiniteNumber]


def check_place(out: Path, *, force: bool) -> None:
    """Raise ``OutputError`` if no model can be saved to *out*; for before the training."""
    check_folder(out, force=force)


def save_model(
    out: Path,
    model: TaggingModel,
    versions: Mapping[str, str],
    *,
    data: Mapping[str, Any],
    settings: Mapping[str, Any],
    figures: Mapping[str, Any],
) -> None:
    """Write *model* to the folder *out*, with what its card tells of the training; *versions* are those of what trained it.

    Raises ``OutputError``.
    """
    weights = _Weights(intercept=model.relevance.intercept, weights=dict(model.relevance.weights))
    contents = {SPANS: model.spans.content, RELEVANCE: _json(weights.model_dump())}
    about = About(
        family=FAMILY,
        types=tuple(model.spans.entity_types),
        own_types=model.own_types,
        data=data,
        settings=settings,
        figures=figures,
        model={
            "calibration": {"spans": _curve(model.span_calibration), "relevance": _curve(model.relevance_calibration)},
            "files": {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
            "versions": dict(versions),
        },
    )
    write_folder(out, {**contents, CARD: card_of(about)})


def load_tagging_model(folder: Path, *, option: str = "--model-path") -> TaggingModel:
    """Read what ``save_model`` wrote; *option* is the one that named *folder*.

    Raises ``UsageError`` if it holds no such model, ``DataError`` if it is damaged or of a newer version.
    """
    about = read_about(folder, FAMILY, where=option)
    card = _model(about, folder)
    files = {name: _content(folder / name, card.files.get(name)) for name in (SPANS, RELEVANCE)}
    try:
        weights = _Weights.model_validate_json(files[RELEVANCE])
    except ValidationError:
        raise DataError("this is no relevance model", where=str(folder / RELEVANCE), remedy=AGAIN) from None
    try:
        spans = SpanFinder(files[SPANS])
    except ValueError:
        raise DataError("this is no model of CRFsuite", where=str(folder / SPANS), remedy=AGAIN) from None
    if spans.entity_types != list(about.types):
        raise DataError("the model has other types than its description", where=str(folder / CARD), remedy=AGAIN)
    return TaggingModel(
        spans=spans,
        relevance=RelevanceModel(weights=weights.weights, intercept=weights.intercept),
        span_calibration=_calibration(card.calibration.spans),
        relevance_calibration=_calibration(card.calibration.relevance),
        own_types=about.own_types,
    )


def model_digest(folder: Path, *, option: str = "--model-path") -> str:
    """Return a digest of all that the model in *folder* says; raises ``UsageError`` if it holds none."""
    files = _model(read_about(folder, FAMILY, where=option), folder).files
    return hashlib.sha256((folder / CARD).read_bytes() + _json(files)).hexdigest()


def _model(about: About, folder: Path) -> _Model:
    try:
        return _Model.model_validate(about.model)
    except ValidationError:
        raise damaged_card(folder / CARD) from None


def _content(path: Path, sha256: str | None) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"a file of the model cannot be read ({error.strerror})", where=str(path), remedy=AGAIN) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise DataError(f"the file is not the one that {CARD} describes (another SHA-256)", where=str(path), remedy=AGAIN)
    return content


def _curve(calibration: Calibration | None) -> dict[str, float] | None:
    return None if calibration is None else asdict(calibration)


def _calibration(curve: _Curve | None) -> Calibration | None:
    return None if curve is None else Calibration(slope=curve.slope, offset=curve.offset)


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
