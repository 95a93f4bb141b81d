"""The schema and loader of ``data/vocabulary/<language>.yaml``. The head of ``en.yaml`` explains the keys."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.mentions import Gender, Same

LANGUAGES: Final = ("en", "nl", "pt", "de", "fr", "es", "it", "sv", "no", "da", "fi", "pl")


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)


class PeopleEntry(_Entry):
    """Words of one role."""

    role: str
    words: tuple[str, ...] = ()
    female: tuple[str, ...] = ()
    male: tuple[str, ...] = ()
    plural: tuple[str, ...] = ()
    weak: bool = False
    party: bool = False
    same: Same = "document"
    sure: float = 1.0


class NamesEntry(_Entry):
    """Words for the name of anybody."""

    form: str
    words: tuple[str, ...]
    plural: tuple[str, ...] = ()
    role: str = ""


class ValuesEntry(_Entry):
    """Words of another kind; ``beside``: what stands beside the tag may tell another one."""

    kind: str
    words: tuple[str, ...]
    plural: tuple[str, ...] = ()
    role: str = ""
    same: Same = "mention"
    form: str = ""
    sure: float = 1.0
    lettered: bool = False
    beside: bool = False


class TitlesEntry(_Entry):
    """Titles that stand before a letter: "Dr. X"."""

    words: tuple[str, ...]
    role: str
    gender: Gender | None = None


class CueEntry(_Entry):
    """What stands beside a placeholder that tells its kind."""

    kind: str
    before: str = ""
    after: str = ""
    form: str = ""
    gender: Gender | None = None
    sure: float = 1.0


class FormEntry(_Entry):
    """What stands beside a placeholder of a kind that tells how its value is written there."""

    kind: str
    form: str
    before: str = ""
    after: str = ""


class Describing(_Entry):
    """Words of descriptions that stand for a tag: before its noun, and between the noun and where it is; ``own`` tells the writer's."""

    adjectives: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


class Qualifiers(_Entry):
    """Words inside a tag that tell gender."""

    female: tuple[str, ...] = ()
    male: tuple[str, ...] = ()


class VocabularyFile(_Entry):
    """One language."""

    language: str
    head: Literal["first", "last"]
    doubtful: tuple[str, ...] = ()
    articles: tuple[str, ...] = ()
    joiners: tuple[str, ...] = ()
    index_words: tuple[str, ...] = ()
    qualifiers: Qualifiers = Qualifiers()
    blanks: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    people: tuple[PeopleEntry, ...]
    names: tuple[NamesEntry, ...]
    values: tuple[ValuesEntry, ...]
    ids: dict[str, str] = {}
    titles: tuple[TitlesEntry, ...] = ()
    cues: tuple[CueEntry, ...] = ()
    forms: tuple[FormEntry, ...] = ()
    describing: Describing = Describing()
    contacts: dict[str, str] = {}


@cache
def vocabulary_file(language: str) -> VocabularyFile:
    """Read the vocabulary file of *language*, one of ``LANGUAGES``; cached."""
    return load_yaml(files("piiloom.surrogates") / "data" / "vocabulary" / f"{language}.yaml", VocabularyFile)
