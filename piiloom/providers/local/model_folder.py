"""The folders of a base model and of an adapter: what is checked before anything heavy is loaded, and their digests.

The digest is over every file that shapes a reply: configuration, weights, tokenizer, chat template. It names the model in the journal of
replies, and a trained adapter (``piiloom.json``) names its base by it. Weights are read once for it, a few seconds for each ten GB.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from piiloom.foundation.errors import UsageError

BASE_OPTION: Final = "--model"
ADAPTER_OPTION: Final = "--adapter"
CARD: Final = "piiloom.json"  # what a training of piiloom writes into a folder, as its last file
ADAPTER_CONFIG: Final = "adapter_config.json"
CONFIG: Final = "config.json"
TOKENIZERS: Final = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")
_ADAPTER_WEIGHTS: Final = ("adapter_model.safetensors", "adapter_model.bin")
# What shapes a reply beside the weights. Special tokens and templates stand in files of their own in some folders.
_SHAPING: Final = (
    CONFIG,
    "generation_config.json",
    *TOKENIZERS,
    "merges.txt",
    "added_tokens.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "chat_template.json",
)
_EXAMPLE: Final = "Name the folder of a local causal language model, with config.json, tokenizer and weights (docs/training-llm.md)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFolder:
    """A base model, and an adapter for it if there is one. ``digest`` names both; ``context`` is how many tokens fit, if it is said."""

    base: Path
    adapter: Path | None
    digest: str
    context: int | None

    @property
    def name(self) -> str:
        """How the model is called: the name of the base's folder, and that of the adapter's."""
        adapter = "" if self.adapter is None else f"+{self.adapter.resolve().name}"
        return f"{self.base.resolve().name}{adapter}"


def open_folder(base: Path, adapter: Path | None = None) -> ModelFolder:
    """Check both folders. Raises ``UsageError`` for what lacks a file, is damaged, or does not belong together."""
    config = check_base(base)
    digest = base_digest(base)
    if adapter is not None:
        _check_adapter(adapter, base, digest)
        digest = _digest([adapter / ADAPTER_CONFIG, *_weights_of_adapter(adapter)], digest)
    return ModelFolder(base=base, adapter=adapter, digest=digest, context=_context(config))


def check_base(base: Path) -> Mapping[str, Any]:
    """Return the configuration of the base model in *base*; raises ``UsageError`` if it is no folder of a model."""
    where = f"{BASE_OPTION} {base}"
    if not base.is_dir():
        raise UsageError("there is no such folder", where=where, remedy=_EXAMPLE)
    if (base / ADAPTER_CONFIG).is_file() and not (base / CONFIG).is_file():
        raise UsageError("this is an adapter, not a base model", where=where, remedy=f"Give it with {ADAPTER_OPTION}, and its base here")
    config = _json(base / CONFIG, where, _EXAMPLE)
    if not any((base / name).is_file() for name in TOKENIZERS):
        raise UsageError(f"the folder has no tokenizer (none of {', '.join(TOKENIZERS)})", where=where, remedy=_EXAMPLE)
    if not _weights(base):
        raise UsageError("the folder has no weights (no *.safetensors and no pytorch_model*.bin)", where=where, remedy=_EXAMPLE)
    return config


def base_digest(base: Path) -> str:
    """Return the digest of the base model in *base*."""
    return _digest([*(base / name for name in _SHAPING), *_weights(base)])


def _check_adapter(adapter: Path, base: Path, digest: str) -> None:
    where = f"{ADAPTER_OPTION} {adapter}"
    remedy = "Name the folder that piiloom train lora wrote, or one of peft"
    if not adapter.is_dir():
        raise UsageError("there is no such folder", where=where, remedy=remedy)
    config = _json(adapter / ADAPTER_CONFIG, where, remedy)
    if not _weights_of_adapter(adapter):
        raise UsageError(f"the folder has no weights of an adapter (none of {', '.join(_ADAPTER_WEIGHTS)})", where=where, remedy=remedy)
    card = adapter / CARD
    if not card.is_file():
        return
    stated = _json(card, where, "Copy the whole folder again, or train again")
    trained = stated.get("base")
    if not isinstance(trained, Mapping) or stated.get("family") != "lora":
        raise UsageError(f"its {CARD} describes no adapter of a language model", where=where, remedy=remedy)
    if trained.get("sha256") != digest:
        name = trained.get("name") or Path(str(config.get("base_model_name_or_path") or "?")).name
        problem = f"the adapter was trained on another base model ({name}) than the one in {base}"
        raise UsageError(problem, where=where, remedy=f"Give the folder of that model, unchanged, with {BASE_OPTION}")


def _json(path: Path, where: str, remedy: str) -> Mapping[str, Any]:
    if not path.is_file():
        raise UsageError(f"the folder has no {path.name}", where=where, remedy=remedy)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UsageError(f"its {path.name} is damaged", where=where, remedy="Copy the whole folder again")
    return found


def _weights(base: Path) -> list[Path]:
    safe = sorted(base.glob("*.safetensors"))
    return safe or sorted(base.glob("pytorch_model*.bin"))


def _weights_of_adapter(adapter: Path) -> list[Path]:
    return [adapter / name for name in _ADAPTER_WEIGHTS if (adapter / name).is_file()][:1]


def _context(config: Mapping[str, Any]) -> int | None:
    for part in (config, config.get("text_config")):
        found = part.get("max_position_embeddings") if isinstance(part, Mapping) else None
        if isinstance(found, int) and found > 0:
            return found
    return None


def _digest(files: Iterable[Path], begun: str = "") -> str:
    """Return a SHA-256 over names and contents of those of *files* that there are."""
    whole = hashlib.sha256(begun.encode())
    for path in files:
        if path.is_file():
            with path.open("rb") as fh:
                whole.update(f"{path.name}\0{hashlib.file_digest(fh, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()
