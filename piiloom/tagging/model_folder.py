"""A trained detector as a folder, and back. Loading it executes nothing: it is numbers as JSON, and a model file that CRFsuite reads.

``piiloom.json``, the card of a trained folder, says what the model is, what it was trained on, and how well it did; here it has the
SHA-256 of the other files. It is written last: a folder that has it is complete. Nothing in it depends on the machine or the time. Equal
trainings give equal folders.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.frames import Framed
from piiloom.foundation.version import __version__
from piiloom.foundation.whole_files import drafted, write_folder
from piiloom.tagging.model import Calibration, RelevanceModel, SpanFinder, TaggingModel
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import OwnTypes, from_json, to_json

CARD: Final = "piiloom.json"
_SCHEMA: Final = 1
AGAIN: Final = "Train again, or copy the whole folder again"
# By what a folder is made, where it is not "piiloom train FAMILY".
_MADE_BY: Final = {"probe": "piiloom probe TRAIN --out DIR"}


@dataclass(frozen=True, slots=True, kw_only=True)
class About(Framed):
    """What a trained folder says of itself, as JSON values.

    ``own_types`` are the definitions of the user's own among ``types``; ``model`` is what only the family itself knows to read.
    """

    family: str
    types: tuple[str, ...]
    base: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    own_types: OwnTypes = ()
    piiloom: str = field(default_factory=lambda: __version__)


def card_of(about: About) -> bytes:
    """Return the contents of the card that says *about*."""
    row = {"schema": _SCHEMA, **asdict(about), "types": list(about.types), "own_types": to_json(about.own_types)}
    return (json.dumps(row, ensure_ascii=False, indent=2) + "\n").encode()


def write_about(folder: Path, about: About) -> None:
    """Write the card of *folder*, whose other files must be complete. Raises ``OutputError``."""
    with drafted(folder / CARD) as fh:
        fh.write(card_of(about))


def read_about(folder: Path, family: str, *, needs: Sequence[str] = (), where: str = "--model-path") -> About:
    """Return what *folder* says of itself. *needs* are files that it must have; *where* is the option that named it.

    Raises ``UsageError`` if it is no trained folder of piiloom, or of another family, and ``DataError`` if its card is damaged, of a
    newer piiloom, or a file is missing.
    """
    path, remedy = folder / CARD, f"Name the folder that {_MADE_BY.get(family, f'piiloom train {family}')} wrote"
    if not folder.is_dir():
        raise UsageError("there is no such folder", where=f"{where} {folder}", remedy=remedy)
    if not path.is_file():
        problem = f"this is no trained folder: it has no {CARD}, which a training writes at its end"
        raise UsageError(problem, where=f"{where} {folder}", remedy=remedy)
    row = _row(path)
    if (found := row.get("family")) != family and isinstance(found, str):
        problem = f"the folder holds a model of the family {found!r}, and {family!r} is wanted"
        raise UsageError(problem, where=f"{where} {folder}", remedy=f"Use --detector {found}, or name another folder")
    about = _parsed(row, path)
    for name in needs:
        if not (folder / name).is_file():
            raise DataError(f"the file {name} is missing", where=str(folder), remedy=AGAIN)
    return about


def _row(path: Path) -> dict[str, Any]:
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror})", where=str(path), remedy=AGAIN) from error
    except (ValueError, RecursionError):
        raise damaged_card(path) from None
    if not isinstance(row, dict) or not isinstance(schema := row.pop("schema", None), int):
        raise damaged_card(path)
    if schema > _SCHEMA:
        raise DataError("the folder was written by a newer piiloom", where=str(path), remedy="Update piiloom")
    return row


def _parsed(row: dict[str, Any], path: Path) -> About:
    try:
        types, own = row.pop("types"), from_json(row.pop("own_types", []))
        about = About(**row, types=tuple(types), own_types=own)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise damaged_card(path) from None
    is_whole = isinstance(about.family, str) and all(isinstance(one, str) for one in about.types)
    if not (is_whole and all(isinstance(part, dict) for part in (about.base, about.data, about.settings, about.figures, about.model))):
        raise damaged_card(path)
    return about


def damaged_card(path: Path) -> DataError:
    """Return the error of a card that does not say what it should."""
    return DataError("the description of the trained model is damaged", where=str(path), remedy=AGAIN)


def unknown_types(types: Iterable[str], own: OwnTypes, taxonomy: Taxonomy) -> list[str]:
    """Return those of *types* that neither *taxonomy* nor *own* (those of the card) defines."""
    known = {*taxonomy.types, *(one.name for one in own)}
    return [name for name in types if name not in known]


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
