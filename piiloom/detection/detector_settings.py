"""Settings that some detectors have."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.releases.export_drafts import sha256_of
from piiloom.foundation import torch_devices
from piiloom.foundation.errors import DataError, UsageError
from piiloom.tagging.model_card import CARD
from piiloom.taxonomy.own_types import OwnTypes, from_json

DEVICES: Final = (*torch_devices.DEVICES, "onnx")
VERIFIERS: Final = (1, 2)
REASONED: Final = 2  # the verifier that gives a reasoning before its answer


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A model on this machine.

    ``path`` is its folder, or a name that its library knows; empty: none, for a detector that does without. ``label_map`` is a YAML file
    that says which type a label of the model is.
    ``batch_size`` is how many texts it reads at once. Raises ``UsageError`` for what makes no sense.
    """

    path: str
    label_map: Path | None = None
    device: str = "auto"
    batch_size: int = 16

    def __post_init__(self) -> None:
        if self.device not in DEVICES:
            raise UsageError(f"there is no device {self.device!r}", where="--device", remedy=f"Choose one of {', '.join(DEVICES)}")
        if self.batch_size < 1:
            raise UsageError("a batch has at least one text", where="--batch-size")

    @property
    def identity(self) -> dict[str, Any]:
        """What shapes the findings, for digests: the path, and of a folder names, sizes and times of its files."""
        files = traces(Path(self.path)) if self.path else []
        return {"path": self.path, "files": files, "label_map": digest_of(self.label_map)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service that detects. Its keys come from the environment. ``rpm`` limits requests a minute; None: what the service allows.

    Raises ``UsageError`` for numbers below 1.
    """

    endpoint: str | None = None
    region: str | None = None
    label_map: Path | None = None
    rpm: float | None = None
    concurrency: int = 16
    timeout_s: float = 60.0
    attempts: int = 5

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.concurrency < 1:
            raise UsageError("attempts and concurrency must be at least 1", where="--concurrency")

    @property
    def identity(self) -> dict[str, Any]:
        """What shapes the findings, for digests."""
        return {"endpoint": self.endpoint, "region": self.region, "label_map": digest_of(self.label_map)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompting:
    """How a model is prompted: with ``shots`` examples drawn from ``examples``, a file of native rows; without one with none."""

    examples: Path | None = None
    shots: int = 0

    def __post_init__(self) -> None:
        if self.shots < 0:
            raise UsageError("the number of examples is 0 or more", where="--shots")
        if self.shots and self.examples is None:
            raise UsageError("there is nothing to draw examples from", where="--shots", remedy="Name a file of records with --examples")

    @property
    def identity(self) -> dict[str, Any]:
        """What shapes the findings, for digests."""
        return {"examples": digest_of(self.examples), "shots": self.shots}


def types_of_card(folder: Path) -> OwnTypes:
    """Return the user-defined types that a model trained by piiloom knows, as ``piiloom.json`` in *folder* has them."""
    try:
        return from_json(json.loads((folder / CARD).read_text(encoding="utf-8")).get("own_types", []))
    except (OSError, ValueError, AttributeError, RecursionError, DataError):
        return ()  # a model of somebody else, or one that cannot be used, which is said when it is loaded


def traces(folder: Path) -> list[list[Any]]:
    """Return names, sizes and times of the files in *folder*: equal if, as good as surely, nothing was changed. Empty if it is none."""
    files = sorted(one for one in folder.rglob("*") if one.is_file()) if folder.is_dir() else []
    return [[str(one.relative_to(folder)), one.stat().st_size, one.stat().st_mtime_ns] for one in files]


def digest_of(path: Path | None) -> str | None:
    """The digest of a file; that of a shipped label map's name is the name."""
    if path is None:
        return None
    return sha256_of(path) if path.is_file() else str(path)
