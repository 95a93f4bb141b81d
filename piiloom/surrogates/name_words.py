"""Words that stand beside names or in them, of all languages: titles, particles, what announces a name or follows one.

They are in ``data/words/beside_names.yaml``.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import Field

from piiloom.foundation.yaml_files import FileModel, load_yaml

Words = Annotated[frozenset[str], Field(strict=False)]  # YAML has lists


class NameWords(FileModel):
    """The file; its head says what the lists are."""

    titles: list[str]
    cased: list[str]
    within: Words
    within_first: dict[str, list[str]]
    family_particles: Words
    families: Words
    between: Words
    apart: list[str]
    before_families: Words
    given_titles: Words
    letter_joiners: list[str]
    letter_beginnings: dict[str, list[str]]
    letter_titles: list[str]
    letter_particles: list[str]
    residual_titles: list[str]
    residual_leads: list[str]
    residual_particles: list[str]
    residual_no_names: list[str]


@cache
def name_words() -> NameWords:
    """Return the words of the file; cached."""
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "beside_names.yaml", NameWords)
