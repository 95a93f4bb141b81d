"""The settings of detectors that load a model on this machine, ask a service, or show a model examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from piiloom.corpus.releases.foreign_files import sha256_of
from piiloom.foundation.errors import DataError
from piiloom.foundation.settings import OptionalPath, Settings, setting
from piiloom.providers.model_calls import MODEL, ModelCalls
from piiloom.tagging.model_card import CARD
from piiloom.taxonomy.own_types import OwnTypes, from_json

LOCAL_MODELS: Final = "Models on this machine, and services"


class OnDevice(Settings):
    """The device of a model on this machine, and how many texts it reads at once."""

    device: Literal["auto", "cpu", "cuda", "onnx"] = setting("auto", "Device of a model on this machine.", panel=LOCAL_MODELS)
    batch_size: int = setting(16, "Texts that a model on this machine reads at once.", metavar="N", panel=LOCAL_MODELS, ge=1, advanced=True)


class Labels(Settings):
    """A map from the labels of a model or service to entity types."""

    label_map: OptionalPath = setting(
        None, "Types of the labels of the model or service: a YAML file, or the name of a shipped map.", metavar="MAP", panel=LOCAL_MODELS
    )


class LocalModel(OnDevice, Labels):
    """A trained detector on this machine. ``model_path`` is empty for a detector that does without one."""

    model_path: str = setting(
        "", "Folder of a trained detector on this machine (for presidio also the name of a pipeline).", metavar="DIR", panel=LOCAL_MODELS
    )

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that shape the findings, for digests: the path, and of a folder names, sizes and times of its files."""
        files = traces(Path(self.model_path)) if self.model_path else []
        return {"path": self.model_path, "files": files, "label_map": digest_of(self.label_map)}


class Service(Labels, ModelCalls):
    """A service that detects. Its keys come from the environment; ``rpm`` None: as many requests a minute as the service allows."""

    endpoint: str | None = setting(None, "Address of the service azure or aws.", metavar="URL", panel=LOCAL_MODELS)
    region: str | None = setting(None, "Region of aws.", metavar="NAME", panel=LOCAL_MODELS, advanced=True)
    attempts: int = setting(5, "Requests for one text.", flags="-", ge=1)

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that shape the findings, for digests."""
        return {"endpoint": self.endpoint, "region": self.region, "label_map": digest_of(self.label_map)}


class Prompting(Settings):
    """The examples that a model is shown: ``shots`` of those in ``examples``, a file of native rows."""

    panels: ClassVar[tuple[str, ...]] = (MODEL,)

    examples: OptionalPath = setting(None, "Native rows from which the model is shown some (markers).", metavar="FILE", panel=MODEL)
    shots: int = setting(8, "Number of examples that the model is shown.", metavar="N", panel=MODEL, ge=0, advanced=True)

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that shape the findings, for digests."""
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
