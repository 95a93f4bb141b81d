"""Words that stand beside names or in them, of all languages: titles, particles, what announces a name or follows one.

They are in ``data/words/beside_names.yaml``.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from piiloom.foundation.yaml_files import FileModel, load_yaml


class _Letters(FileModel):
    joiners: list[str]
    beginnings: list[str]
    titles: list[str]
    particles: list[str]


class _Residual(FileModel):
    titles: list[str]
    leads: list[str]
    particles: list[str]
    no_names: list[str]


class NameWords(FileModel):
    """The file; its head says what the lists are."""

    titles: list[str]
    cased: list[str]
    within: list[str]
    letters: _Letters
    residual: _Residual


@cache
def name_words() -> NameWords:
    """Return the words of the file; cached."""
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "beside_names.yaml", NameWords)
