"""``piiloom.json`` of a trained folder: what the model is, what it was trained on, and how well it did.

It is written last: a folder that has it is complete.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.releases.foreign_files import sha256_of
from piiloom.corpus.releases.manifest import piiloom_version
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.whole_files import drafted
from piiloom.taxonomy.entity_types import load_taxonomy
from piiloom.taxonomy.own_types import OwnTypes, from_json, to_json

CARD: Final = "piiloom.json"
_SCHEMA: Final = 1
# One of these files is what a tokenizer is loaded from.
_TOKENIZERS: Final = ("tokenizer.json", "vocab.txt", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.json")
_CONFIG: Final = "config.json"
_AGAIN: Final = "Train again, or copy the whole folder again"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a trained folder says of itself. ``own_types`` are the definitions of the user's own among ``types``."""

    family: str
    types: tuple[str, ...]
    base: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    own_types: OwnTypes = ()
    piiloom: str = field(default_factory=piiloom_version)


def write_about(folder: Path, about: About) -> None:
    """Write the card of *folder*, whose other files must be complete. Raises ``OutputError``."""
    row = {"schema": _SCHEMA, **asdict(about), "types": list(about.types), "own_types": to_json(about.own_types)}
    with drafted(folder / CARD) as fh:
        fh.write((json.dumps(row, ensure_ascii=False, indent=2) + "\n").encode())


def read_about(folder: Path, family: str, *, needs: Sequence[str] = (), where: str = "--model-path") -> About:
    """Return what *folder* says of itself. *needs* are files that it must have; *where* is the option that named it.

    Raises ``UsageError`` if it is no trained folder of piiloom, or of another family, and ``DataError`` if its card is damaged, of a
    newer piiloom, or a file is missing.
    """
    path = folder / CARD
    if not folder.is_dir():
        raise UsageError("there is no such folder", where=f"{where} {folder}", remedy=f"Name the folder that piiloom train {family} wrote")
    if not path.is_file():
        problem = f"this is no trained folder: it has no {CARD}, which a training writes at its end"
        raise UsageError(problem, where=f"{where} {folder}", remedy=f"Name the folder that piiloom train {family} wrote")
    about = _parsed(path)
    if about.family != family:
        problem = f"the folder holds a model of the family {about.family!r}, and {family!r} is wanted"
        raise UsageError(problem, where=f"{where} {folder}", remedy=f"Use --detector {about.family}, or name another folder")
    for name in needs:
        if not (folder / name).is_file():
            raise DataError(f"the file {name} is missing", where=str(folder), remedy=_AGAIN)
    return about


def _parsed(path: Path) -> About:
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        schema = row.pop("schema")
        if isinstance(schema, int) and schema > _SCHEMA:
            raise DataError("the folder was written by a newer piiloom", where=str(path), remedy="Update piiloom")
        types, own = row.pop("types"), from_json(row.pop("own_types", []))
        about = About(**row, types=tuple(types), own_types=own)
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror})", where=str(path), remedy=_AGAIN) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _damaged(path) from None
    is_whole = isinstance(about.family, str) and all(isinstance(one, str) for one in about.types)
    if not (is_whole and all(isinstance(part, dict) for part in (about.base, about.data, about.settings, about.figures))):
        raise _damaged(path)
    return about


def _damaged(path: Path) -> DataError:
    return DataError("the description of the trained model is damaged", where=str(path), remedy=_AGAIN)


def base_facts(folder: Path, *, where: str = "--base") -> dict[str, Any]:
    """Return what the card says of the base model in *folder* (its name and the SHA-256 of its configuration).

    Raises ``UsageError`` if *folder* is no local model: no folder, no ``config.json`` or no tokenizer.
    """
    example = "Name the folder of a local model, with config.json, tokenizer and weights; docs/training.md says where one comes from"
    if not folder.is_dir():
        raise UsageError("there is no such folder", where=f"{where} {folder}", remedy=example)
    if not (folder / _CONFIG).is_file():
        raise UsageError(f"the folder has no {_CONFIG}", where=f"{where} {folder}", remedy=example)
    if not has_tokenizer(folder):
        problem = f"the folder has no tokenizer (none of {', '.join(_TOKENIZERS)})"
        raise UsageError(problem, where=f"{where} {folder}", remedy=example)
    return {"name": folder.resolve().name, "config_sha256": sha256_of(folder / _CONFIG)}


def has_tokenizer(folder: Path) -> bool:
    """Whether *folder* has the files of a tokenizer."""
    return any((folder / name).is_file() for name in _TOKENIZERS)


def unknown_types(types: Iterable[str], own: OwnTypes) -> list[str]:
    """Return those of *types* that neither the taxonomy in force nor *own* (those of the card) defines."""
    known = {*load_taxonomy().types, *(one.name for one in own)}
    return [name for name in types if name not in known]
