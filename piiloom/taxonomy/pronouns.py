"""Words that agree with the gender of a person in a story, such as "he" or "she" (``data/pronouns.yaml``)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from piiloom.foundation.yaml_files import FileModel, data_folder, load_yaml


class _File(FileModel):
    pronouns: dict[str, dict[str, str]]


@cache
def pronouns(language: str) -> Mapping[str, str]:
    """Return a mapping of masculine words to feminine ones; empty for a language without an entry."""
    return load_yaml(data_folder("taxonomy") / "pronouns.yaml", _File).pronouns.get(language, {})


def pronoun(word: str, gender: str, language: str) -> str:
    """Return the masculine *word* in the form for *gender*. Raises ``KeyError`` for an unknown word if the gender is not "male"."""
    return word if gender == "male" else pronouns(language)[word]
