"""The pydantic schemas of the data files. Unknown keys and wrong types raise an error with file and line."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from piiloom.foundation.yaml_files import FileModel, Text
from piiloom.pii_values.country_facts import Order


class KindEntry(FileModel):
    """One kind."""

    type: str
    subtype: str | None = None
    owner: Literal["person", "document", "none"]
    draw: str


class KindsFile(FileModel):
    """``kinds.yaml``."""

    kinds: dict[str, KindEntry]


class WordsFile(FileModel):
    """``words/<language>.yaml``: lists of words and forms; ``nations``: nationality by country code."""

    lists: dict[str, list[Text]]
    nations: dict[str, Text] = Field(default={})


class ReligionEntry(FileModel):
    """One religion; see the head of ``religions.yaml``."""

    noun: Text
    adjective: Text
    attributive: Text | None = None
    feminine: Text | None = None
    member: Text
    church: bool = False


class ReligionsFile(FileModel):
    """``religions.yaml``, by language."""

    religions: dict[str, list[ReligionEntry]]


class RegionEntry(FileModel):
    """A region: abbreviation, first characters of its postcodes, cities by size class."""

    short: Text | None = None
    post: list[Text] = Field(default=[])
    large: list[Text] = Field(default=[])
    middle: list[Text] = Field(default=[])
    small: list[Text] = Field(default=[])


class PlacesFile(FileModel):
    """``places/<country>.yaml``. ``locale``: regions come from ``pii_values``; ``large`` and ``middle`` then tell the size classes."""

    locale: str | None = None
    large: list[Text] = Field(default=[])
    middle: list[Text] = Field(default=[])
    regions: dict[str, RegionEntry] = Field(default={})


class StreetStyle(FileModel):
    """Forms with {name}, and the names."""

    forms: list[Text] = Field(min_length=1)
    names: list[Text] = Field(min_length=1)


class StreetsFile(FileModel):
    """``streets.yaml``: styles, and words by which parts of addresses are told."""

    styles: dict[str, StreetStyle]
    roads: list[Text]
    endings: list[Text]
    flats: list[Text]
    states: list[Text]


class PhonePlan(FileModel):
    """Masks of the national way of writing; ``international``: the same number with the country's code; ``source`` of a kept block."""

    national: list[Text] = Field(min_length=1)
    international: list[Text] = Field(min_length=1)
    reserved: bool = False
    source: str | None = None


class PhonesFile(FileModel):
    """``phones.yaml``, by country."""

    plans: dict[str, PhonePlan]


class CalendarEntry(FileModel):
    """A language's words for dates; lists begin with January and Monday.

    ``patterns`` by precision and order, see ``dates``; ``order`` is None where it is the country's. The head of the file
    tells of the others.
    """

    order: Order | None = None
    months: list[Text] = Field(min_length=12, max_length=12)
    short_months: list[list[Text]] = Field(min_length=12, max_length=12)
    weekdays: list[Text] = Field(min_length=7, max_length=7)
    short_weekdays: list[list[Text]] = Field(default=[])
    other_months: dict[str, int] = Field(default={})
    seasons: list[list[Text]] = Field(min_length=4, max_length=4)
    ordinals: Literal["english", "first", "none"] = "none"
    first: list[Text] = Field(default=[])
    ranges: list[Text] = Field(default=[])
    holidays: list[Text] = Field(min_length=6)
    near: list[Text] = Field(default=[])
    told_by_text: dict[Literal["before", "which", "unit", "behind", "some"], list[Text]] = Field(default={})
    parts: list[Text] = Field(default=[])
    month_told: dict[Literal["of", "which", "month", "after"], list[Text]] = Field(default={})
    articles: list[Text] = Field(default=[])
    halves: list[Text] = Field(default=[])
    in_month: list[Text] = Field(default=[])
    years: list[Text] = Field(default=[])
    age_before_noun: str = "{n}"
    patterns: dict[str, list[Text]]
    times: list[Text] = Field(min_length=1)
    durations: list[Text] = Field(min_length=4)


class CalendarsFile(FileModel):
    """``calendars.yaml``, by language."""

    calendars: dict[str, CalendarEntry]


class DateNamesEntry(FileModel):
    """The months and weekdays of a language, one list for each form of the words; lists begin with January and Monday."""

    months: list[Annotated[list[Text], Field(min_length=12, max_length=12)]] = Field(min_length=1)
    weekdays: list[Annotated[list[Text], Field(min_length=7, max_length=7)]]


class DateNamesFile(FileModel):
    """``month_names.yaml``, by language."""

    names: dict[str, DateNamesEntry]


class NumeralsFile(FileModel):
    """``numerals.yaml``: the words of 0 to 120 by language."""

    numerals: dict[str, Annotated[list[Text], Field(min_length=121, max_length=121)]]


class LettersFile(FileModel):
    """``letters.yaml``: letters of a script and how they are written in ASCII."""

    scripts: dict[str, dict[str, str]]
