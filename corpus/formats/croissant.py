"""The Croissant description of a release."""

from __future__ import annotations

from pathlib import Path

from piiloom.corpus.formats.base import Json


def croissant_json(folder: Path, about: Json) -> Json:
    """Return the content of ``croissant.json`` for the Parquet files in *folder* of the release that *about* describes."""
    files = sorted(file.name for file in folder.glob("*.parquet"))
    return {"@type": "sc:Dataset", "name": about["name"], "distribution": files}
