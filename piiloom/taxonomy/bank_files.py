"""Pydantic models of bank files: ``scenarios``, ``frames``, ``talk`` and ``stories`` as in YAML, validated for shape only."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from piiloom.foundation.yaml_files import FileModel
from piiloom.taxonomy.story_files import StoryEntry

PatternText = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Label = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Patterns = Annotated[list[PatternText], Field(min_length=1)]


class AlsoEntry(FileModel):
    """A further type that changes the answer: which subtypes, why, and the sentences that disclose it."""

    uses: Annotated[list[Label], Field(min_length=1)]
    why: Label
    tells: Patterns


class QuestionsEntry(FileModel):
    """A scenario's questions by cue level, which says how much they give away of its theme."""

    neutral: Patterns
    implied: Patterns
    personal: Patterns


class ScenarioEntry(FileModel):
    """One scenario as written. ``tells`` has the sentences with both values under "both", those with one value under its type."""

    id: Label
    pair: Annotated[list[Label], Field(min_length=2, max_length=2)]
    uses: dict[Label, Annotated[list[Label], Field(min_length=1)]]
    subjects: dict[Label, Label] = Field(default={})
    also: dict[Label, AlsoEntry] = Field(default={})
    topic: Label
    subtopics: Annotated[list[Label], Field(min_length=1)]
    rationale: dict[Label, Label]
    tells: dict[Label, Patterns]
    stakes: Patterns
    questions: QuestionsEntry


class FrameEntry(FileModel):
    """An aside that needs more than its text.

    ``subjects``: type to "@relationship" or a role ("someone else"); ``last``: it ends a text.
    """

    text: PatternText
    subjects: dict[Label, Label] = Field(default={})
    last: bool = False


class QualifierEntry(FileModel):
    """Words that people put before the values of some slots ("type.subtype") if the word before is one of *after*."""

    slots: Annotated[list[Label], Field(min_length=1)]
    after: Annotated[list[Label], Field(min_length=1)]
    words: Annotated[list[Label], Field(min_length=1)]


class DefiniteEntry(FileModel):
    """Values that take a definite article (outside the span) if the word before is one of *after*: "in the Netherlands"."""

    article: Label
    after: Annotated[list[Label], Field(min_length=1)]
    values: Annotated[list[Label], Field(min_length=1)]


class TalkEntry(FileModel):
    """Sentences without PII and words of casual writing, by purpose.

    ``second_hand`` has the slot ``{relationship.asked_for}``, ``drafts`` the slot ``{values}``. After a turn of phrase, first words in
    ``plain_starts`` lose their capital and those in ``kept_starts`` keep it. No turn is put before other first words.
    """

    chatter: list[PatternText] = Field(default=[])
    distractors: list[PatternText] = Field(default=[])
    asks: list[PatternText] = Field(default=[])
    openers: dict[Label, Patterns] = Field(default={})
    closers: dict[Label, Patterns] = Field(default={})
    turns: list[PatternText] = Field(default=[])
    quoted: list[PatternText] = Field(default=[])
    second_hand: list[PatternText] = Field(default=[])
    prefaces: list[PatternText] = Field(default=[])
    tails: list[PatternText] = Field(default=[])
    drafts: list[PatternText] = Field(default=[])
    plain_starts: list[Label] = Field(default=[])
    kept_starts: list[Label] = Field(default=[])
    shorthand: dict[Label, list[Label]] = Field(default={})
    subject_words: list[Label] = Field(default=[])
    hesitations: list[Label] = Field(default=[])
    emoji: list[Label] = Field(default=[])
    qualifiers: list[QualifierEntry] = Field(default=[])
    definite: list[DefiniteEntry] = Field(default=[])


class BankFile(FileModel):
    """A bank file. Each of its parts may be missing. ``types`` are own types, which ``own_types_file`` reads."""

    types: list[Any] = Field(default=[])
    scenarios: list[ScenarioEntry] = Field(default=[])
    frames: list[PatternText | FrameEntry] = Field(default=[])
    talk: TalkEntry = Field(default_factory=TalkEntry)
    stories: list[StoryEntry] = Field(default=[])
