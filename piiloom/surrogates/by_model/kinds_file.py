"""The schema of ``data/model_kinds.yaml``."""

from __future__ import annotations

from piiloom.foundation.yaml_files import FileModel, Text


class ModelKind(FileModel):
    """``means`` ends the sentence "The gap holds …"; ``digits``: a value may hold a few."""

    means: Text
    digits: bool = False


class ModelKindsFile(FileModel):
    """See the head of the file."""

    kinds: dict[str, ModelKind]
    languages: dict[str, Text]
    other_scripts: list[str]
    articles: list[Text]
    closing: list[Text]
    within: list[Text]
