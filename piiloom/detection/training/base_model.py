"""A local model that a training starts from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from piiloom.foundation.errors import UsageError
from piiloom.foundation.whole_files import sha256_of

# One of these files is what a tokenizer is loaded from.
_TOKENIZERS: Final = ("tokenizer.json", "vocab.txt", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.json")
_CONFIG: Final = "config.json"


def base_facts(folder: Path, *, where: str = "--model") -> dict[str, Any]:
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
