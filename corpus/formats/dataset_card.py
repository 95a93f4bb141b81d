"""The dataset card of a release: Markdown with a YAML header that Hugging Face ``datasets`` reads."""

from __future__ import annotations

from typing import Any

import yaml

from piiloom.corpus.formats.base import Json


def card_text(about: Json, features_yaml: Json) -> str:
    """Return the card of the release that ``release.json`` describes as *about*; *features_yaml* is the value of ``dataset_info``."""
    splits: Any = about["splits"]
    files = [{"split": split, "path": f"{split}.parquet"} for split in splits]
    header = {"configs": [{"config_name": "default", "data_files": files}], "dataset_info": features_yaml}
    text = yaml.safe_dump(header, allow_unicode=True, sort_keys=False)
    return f"---\n{text}---\n\n# {about['name']}\n\n{about['description']}\n"
