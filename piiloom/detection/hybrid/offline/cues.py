"""The cues of a language (words around names and addresses, endings of companies, short word lists), and the findings of rules."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from piiloom.foundation.yaml_files import load_yaml

CueWords = Annotated[tuple[str, ...], Field(default=())]


class LanguageCues(BaseModel):
    """Data of one language; all words in small letters but those of ``cities`` and companies.

    Names: ``titles`` stand before one (Dr), ``behind_names`` after one (先生), ``name_cues`` are phrases before one ("my name is").
    ``particles`` join parts of a name or are such; ``connectors`` never end one (ibn). ``not_names`` look like names and are none,
    ``before_places`` stand before a name that is a place's or a house's (São, hospital). ``given`` and ``family`` are for scripts that
    the names index lacks, ``given_characters`` are what Chinese given names are made of.

    Addresses: ``street_before`` are words before a street's name (rua), ``street_behind`` endings of one (-straat) or words behind it;
    ``units`` and ``areas`` begin other parts, ``links`` stand before the city ("in"). ``postcodes`` are expressions, ``cities`` names, by
    locale.

    The rest: ``company_forms`` end a company's name, ``company_forms_first`` begin one; ``school_words`` are in a school's. ``words``:
    values by entity id.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    titles: CueWords
    behind_names: CueWords
    name_cues: CueWords
    particles: CueWords
    connectors: CueWords
    not_names: CueWords
    before_places: CueWords
    given: CueWords
    family: CueWords
    given_characters: str = ""
    street_before: CueWords
    street_behind: CueWords
    units: CueWords
    areas: CueWords
    links: CueWords
    postcodes: Annotated[dict[str, str], Field(default={})]
    cities: Annotated[dict[str, tuple[str, ...]], Field(default={})]
    company_forms: CueWords
    company_forms_first: CueWords
    school_words: CueWords
    words: Annotated[dict[str, tuple[str, ...]], Field(default={})]


@lru_cache(maxsize=32)
def language_cues(language: str) -> LanguageCues:
    """Return the cues of *language*; of one without a file, none."""
    source = files("piiloom.detection.hybrid.offline") / "data" / f"{language}.yaml"
    return load_yaml(source, LanguageCues) if source.is_file() else LanguageCues.model_validate({})


class RuleFinding(NamedTuple):
    """``text[start:end]`` is taken for the entity with this id, by the rule *finder*."""

    start: int
    end: int
    entity_id: str
    score: float
    finder: str
