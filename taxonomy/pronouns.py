"""Words that agree with a person of a story's cast: "he" or "she" (``data/pronouns.yaml``)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from piiloom.foundation.yaml_files import load_yaml


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    pronouns: dict[str, dict[str, str]]


@cache
def pronouns(language: str) -> Mapping[str, str]:
    """What is said of a man, and for it of a woman; nothing for a language that the file has not."""
    return load_yaml(files("piiloom.taxonomy") / "data" / "pronouns.yaml", _File).pronouns.get(language, {})


def pronoun(word: str, gender: str, language: str) -> str:
    """*word* as it is said of somebody of *gender*; raises ``KeyError`` for a word that is none."""
    return word if gender == "male" else pronouns(language)[word]
