"""Pydantic models of story files, validated for shape and size only. ``stories`` explains what the parts mean."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from piiloom.foundation.yaml_files import FileModel

MOST_CHARACTERS = 1_000  # of a wording
_MOST_VALUES = 1_000
MOST_NUMBER = 1_000_000_000

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
StepName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$", max_length=40)]
StoryLabel = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
Wording = Annotated[str, StringConstraints(min_length=1, max_length=MOST_CHARACTERS, strip_whitespace=True)]
ListedValue = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
Cell = ListedValue | dict[Name, ListedValue]
Number = Annotated[int | float, Field(ge=-MOST_NUMBER, le=MOST_NUMBER, allow_inf_nan=False)]


class PersonEntry(FileModel):
    """A person in the cast. What is not given is drawn at random."""

    age: Annotated[list[Annotated[int, Field(ge=0, le=105)]], Field(min_length=2, max_length=2)] | None = None
    gender: Literal["female", "male"] | None = None


class NumberRule(FileModel):
    """A number derived from that of the fact ``of``: multiplied by one of ``times``, or with one of ``plus`` added."""

    of: Name
    times: Annotated[list[Number], Field(min_length=1, max_length=100)] | None = None
    plus: Annotated[list[Number], Field(min_length=1, max_length=100)] | None = None
    round: Annotated[int | float, Field(gt=0, le=MOST_NUMBER, allow_inf_nan=False)] | None = None


class ColumnEntry(FileModel):
    """One of the facts in the rows of an entry, written so if it is not about the writer."""

    type: StoryLabel
    of: Name | None = None


class FactEntry(FileModel):
    """A fact with one definition of its values. With ``rows`` it stands for several facts, which are named in ``as``."""

    type: StoryLabel | None = None
    any: Annotated[list[Cell], Field(min_length=1, max_length=_MOST_VALUES)] | None = None
    rows: Annotated[list[list[Cell]], Field(min_length=1, max_length=_MOST_VALUES)] | None = None
    number: list[Number] | NumberRule | None = None
    spelled: list[ListedValue] | dict[Name, StoryLabel | ColumnEntry] | None = Field(default=None, alias="as")
    draw: bool = False
    of: Name | None = None


class StepEntry(FileModel):
    """One step of the text: wordings that say the same thing, and when it is told."""

    say: Annotated[list[Wording], Field(min_length=1, max_length=30)]
    p: Annotated[float, Field(gt=0, le=1, strict=False)] | None = None
    para: bool = False
    group: StepName | None = None
    after: list[Name] = Field(default_factory=list, alias="with")
    id: StepName | None = None


class QuestionEntry(FileModel):
    """One question: its wordings, the facts it needs, those that help, those that are moot, and the steps that must be told."""

    id: StepName
    ask: Annotated[list[Wording], Field(min_length=1, max_length=30)]
    needs: dict[Name, StoryLabel] = Field(default={})
    helps: dict[Name, StoryLabel] = Field(default={})
    moot: list[Name] = Field(default=[])
    said: list[StepName] = Field(default=[])


class StoryEntry(FileModel):
    """One story as written. A plain story has an empty pair and no facts. The ``type`` of each of ``likes`` is a kind of look-alike."""

    id: StoryLabel
    pair: Annotated[list[StoryLabel], Field(max_length=2)]
    topic: StoryLabel
    subtopics: Annotated[list[StoryLabel], Field(min_length=1, max_length=20)]
    voice: Name
    cast: dict[Name, PersonEntry | None] = Field(default={})
    facts: Annotated[dict[Name, FactEntry], Field(max_length=40)] = Field(default={})
    likes: Annotated[dict[Name, FactEntry], Field(max_length=40)] = Field(default={})
    text: Annotated[list[StepEntry], Field(min_length=1, max_length=60)]
    questions: Annotated[list[QuestionEntry], Field(min_length=1, max_length=40)]
