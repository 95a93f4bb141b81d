"""A trained detector as a folder, and back. Loading it executes nothing: it is numbers as JSON, and a model file that CRFsuite reads.

``piiloom.json`` says what the model is, what it learnt from, how well it does, and the SHA-256 of the other files. It is written last: a
folder that has it is complete. Nothing in it depends on the machine or the time, so equal trainings give equal folders.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from piiloom.corpus.releases.manifest import piiloom_version
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.whole_files import check_folder, write_folder
from piiloom.tagging.calibration import Calibration
from piiloom.tagging.model import TaggingModel
from piiloom.tagging.relevance_model import RelevanceModel
from piiloom.tagging.span_finder import SpanFinder
from piiloom.taxonomy.own_types import from_json, to_json

FAMILY: Final = "probe"
CARD: Final = "piiloom.json"
SPANS: Final = "spans.crfsuite"
RELEVANCE: Final = "relevance.json"
SCHEMA: Final = 1
_OPTION: Final = "--save"
_AGAIN: Final = "Copy the folder again, or train it again with piiloom probe TRAIN --save DIR"
_HOW: Final = "Name a folder that piiloom probe TRAIN --save DIR wrote"

Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Curve(_Strict):
    slope: Number
    offset: Number


class _Curves(_Strict):
    spans: _Curve | None
    relevance: _Curve | None


class _Card(_Strict):
    model_config = ConfigDict(extra="ignore", frozen=True)

    types: list[str]
    own_types: list[Any]
    figures: dict[str, Any]
    calibration: _Curves
    files: dict[str, str]


class _Weights(_Strict):
    intercept: Number
    weights: dict[str, Number]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What ``piiloom.json`` tells beside the model: the data and settings of the training, and its figures. JSON values."""

    data: Mapping[str, Any]
    settings: Mapping[str, Any]
    figures: Mapping[str, Any]


def check_place(out: Path, *, force: bool) -> None:
    """Raise ``OutputError`` if no model can be saved to *out*; for before the training."""
    check_folder(out, force=force, option=_OPTION)


def save_model(out: Path, model: TaggingModel, about: About, versions: Mapping[str, str]) -> None:
    """Write *model* to the folder *out*; *versions* are those of what trained it. Raises ``OutputError``."""
    weights = _Weights(intercept=model.relevance.intercept, weights=dict(model.relevance.weights))
    contents = {SPANS: model.spans.content, RELEVANCE: _json(weights.model_dump())}
    card = {
        "schema": SCHEMA,
        "family": FAMILY,
        "types": model.spans.entity_types,
        "own_types": to_json(model.own_types),
        "base": {},
        **asdict(about),
        "calibration": {"spans": _curve(model.span_calibration), "relevance": _curve(model.relevance_calibration)},
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
        "piiloom": piiloom_version(),
        "versions": dict(versions),
    }
    write_folder(out, {**contents, CARD: _json(card, indent=2)}, option=_OPTION)


def load_model(folder: Path, *, option: str = "--model-path") -> TaggingModel:
    """Read what ``save_model`` wrote; *option* is the one that named *folder*.

    Raises ``UsageError`` if it holds no such model, ``DataError`` if it is damaged or of a newer version.
    """
    card = _card(folder, option)
    files = {name: _content(folder / name, card.files.get(name)) for name in (SPANS, RELEVANCE)}
    try:
        weights = _Weights.model_validate_json(files[RELEVANCE])
    except ValidationError:
        raise DataError("this is no relevance model", where=str(folder / RELEVANCE), remedy=_AGAIN) from None
    try:
        spans = SpanFinder(files[SPANS])
    except ValueError:
        raise DataError("this is no model of CRFsuite", where=str(folder / SPANS), remedy=_AGAIN) from None
    if spans.entity_types != card.types:
        raise DataError("the model has other types than its description", where=str(folder / CARD), remedy=_AGAIN)
    return TaggingModel(
        spans=spans,
        relevance=RelevanceModel(weights=weights.weights, intercept=weights.intercept),
        span_calibration=_calibration(card.calibration.spans),
        relevance_calibration=_calibration(card.calibration.relevance),
        own_types=from_json(card.own_types),
    )


def model_digest(folder: Path, *, option: str = "--model-path") -> str:
    """Return a digest of all that the model in *folder* says; raises ``UsageError`` if it holds none."""
    files = _card(folder, option).files
    return hashlib.sha256((folder / CARD).read_bytes() + _json(files)).hexdigest()


def _card(folder: Path, option: str) -> _Card:
    path = folder / CARD
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        problem = f"the folder has no {CARD}, so it holds no model that is complete" if folder.is_dir() else "there is no such folder"
        raise UsageError(problem, where=f"{option} {folder}", remedy=_HOW) from None
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror})", where=str(path), remedy="Check the path") from error
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or not isinstance(row.get("schema"), int):
        raise DataError("the description of the model is damaged", where=str(path), remedy=_AGAIN)
    if (family := row.get("family")) != FAMILY:
        raise UsageError(f"the folder holds a model of another family ({family!r})", where=f"{option} {folder}", remedy=_HOW)
    if row["schema"] > SCHEMA:
        raise DataError("the model was saved by a newer piiloom", where=str(path), remedy="Upgrade piiloom")
    try:
        return _Card.model_validate(row)
    except ValidationError:
        raise DataError("the description of the model is damaged", where=str(path), remedy=_AGAIN) from None


def _content(path: Path, sha256: str | None) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"a file of the model cannot be read ({error.strerror})", where=str(path), remedy=_AGAIN) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise DataError(f"the file is not the one that {CARD} describes (another SHA-256)", where=str(path), remedy=_AGAIN)
    return content


def _curve(calibration: Calibration | None) -> dict[str, float] | None:
    return None if calibration is None else asdict(calibration)


def _calibration(curve: _Curve | None) -> Calibration | None:
    return None if curve is None else Calibration(slope=curve.slope, offset=curve.offset)


def _json(value: object, indent: int | None = None) -> bytes:
    separators = None if indent else (",", ":")
    return (json.dumps(value, ensure_ascii=False, indent=indent, separators=separators) + "\n").encode()
