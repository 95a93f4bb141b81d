"""Validity checks of bank files: known types, readable patterns, the right slots, and nothing that can never be used.

Style (word counts, openings, what a question may say) is checked by ``bank_style``.

Pydantic models of bank files: ``scenarios``, ``frames``, ``talk`` and ``stories`` as in YAML, validated for shape only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.words import count_words
from piiloom.foundation.yaml_files import FileModel, KeyPath, YamlDocument, key_name
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.grammar import repeated_alternatives, slot_counts
from piiloom.taxonomy.story_checks import Fault, pair_faults, story_faults, subtype_faults
from piiloom.taxonomy.story_files import StoryEntry
from piiloom.taxonomy.text_shapes import ANY_REGISTER, load_registers

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


BOTH = "both"  # the key of the tells that hold the values of both types
OF_RELATIVE = "@relationship"
ASKED_FOR = "relationship.asked_for"
VALUES = "values"
MOST_SLOTS = 4  # of a frame: an aside holds no more values
MOST_LABEL_WORDS = 3  # of a topic or subtopic: longer ones are no topics to the generation stages
CUE_LEVELS = ("neutral", "implied", "personal")


def slot_name(entity_type: str) -> str:
    """Return the slot name of a type in patterns: ``_`` instead of blanks."""
    return entity_type.replace(" ", "_")


def check_bank_file(parsed: BankFile, document: YamlDocument, taxonomy: Taxonomy) -> None:
    """Raise ``ConfigError`` (file, line, key) for the first entry from which no text can be made."""
    for path, fault in bank_faults(parsed, taxonomy):
        raise ConfigError(f"{key_name(path)}: {fault}", where=document.where(path), remedy="Correct the entry named here.")


def bank_faults(parsed: BankFile, taxonomy: Taxonomy, language: str = "en") -> Iterator[Fault]:
    """Yield (path, message) for everything in a file from which no text can be made, or that would never be used."""
    for index, entry in enumerate(parsed.scenarios):
        yield from _scenario_faults(("scenarios", index), entry, taxonomy)
    for index, frame in enumerate(parsed.frames):
        yield from _frame_faults(("frames", index), frame, taxonomy)
    yield from _talk_faults(parsed.talk, taxonomy)
    for index, story in enumerate(parsed.stories):
        yield from story_faults(("stories", index), story, taxonomy, language)


def _scenario_faults(path: KeyPath, entry: ScenarioEntry, taxonomy: Taxonomy) -> Iterator[Fault]:
    for label in (entry.topic, *entry.subtopics):
        if count_words(label) > MOST_LABEL_WORDS:
            yield (*path, "topic"), f"a topic or subtopic has {count_words(label)} words, not 1 to {MOST_LABEL_WORDS}, so it is never used"
    pair = [_spelled(name) for name in entry.pair]
    also = [_spelled(name) for name in entry.also]
    for fault in pair_faults(pair, taxonomy):
        yield (*path, "pair"), fault
    yield from _spoken_of((*path, "uses"), entry.uses, pair, complete=True)
    yield from _type_faults((*path, "uses"), entry.uses, taxonomy)
    yield from _type_faults((*path, "also"), {name: a.uses for name, a in entry.also.items()}, taxonomy)
    for name in also:
        if name in pair:
            yield (*path, "also", name), f"{name!r} is a type of the pair already"
    yield from _spoken_of((*path, "rationale"), entry.rationale, pair, complete=True)
    yield from _spoken_of((*path, "subjects"), entry.subjects, [*pair, *also])
    if OF_RELATIVE in entry.subjects.values() and "relationship" not in [*pair, *also]:
        yield (*path, "subjects"), f"{OF_RELATIVE} needs a relationship slot"
    yield from _spoken_of((*path, "tells"), entry.tells, [BOTH, *pair], complete=True)
    slots = [slot_name(name) for name in pair]
    for name, patterns in entry.tells.items():
        wanted = slots if name == BOTH else [slot_name(_spelled(name))]
        yield from _text_faults((*path, "tells", name), patterns, wanted)
    for name, further in entry.also.items():
        yield from _text_faults((*path, "also", name, "tells"), further.tells, [slot_name(_spelled(name))])
    yield from _text_faults((*path, "stakes"), entry.stakes, [])
    for level in CUE_LEVELS:
        yield from _text_faults((*path, "questions", level), getattr(entry.questions, level), [])


def _type_faults(path: KeyPath, uses: Mapping[str, Iterable[str]], taxonomy: Taxonomy) -> Iterator[Fault]:
    for name, subtypes in uses.items():
        for fault in subtype_faults(_spelled(name), subtypes, taxonomy):
            yield (*path, name), fault


def _spoken_of(path: KeyPath, given: Iterable[str], wanted: Sequence[str], *, complete: bool = False) -> Iterator[Fault]:
    """Yield faults for the keys of *given* that are not in *wanted*, and if *complete* for those of *wanted* that are missing."""
    named = {_spelled(name): name for name in given}
    for name in wanted if complete else ():
        if name not in named:
            yield path, f"{name!r} is missing"
    for name, written in named.items():
        if name not in wanted:
            yield (*path, written), f"{written!r} is never used here"


def _frame_faults(path: KeyPath, entry: str | FrameEntry, taxonomy: Taxonomy) -> Iterator[Fault]:
    text, subjects = (entry.text, entry.subjects) if isinstance(entry, FrameEntry) else (entry, {})
    faults = list(pattern_faults(text, None))
    yield from ((path, fault) for fault in faults)
    if faults:
        return
    types: list[str] = []
    for slot in slot_counts(text):
        name, dot, subtype = slot.partition(".")
        types.append(_spelled(name))
        for fault in subtype_faults(_spelled(name), [subtype], taxonomy) if dot else [f"slot {{{slot}}} is not {{type.subtype}}"]:
            yield path, fault
    if not 1 <= len(types) <= MOST_SLOTS:
        yield path, f"a frame has {len(types)} slots, not 1 to {MOST_SLOTS}, so it is never drawn"
    if len(set(types)) < len(types):
        yield path, "a frame has one slot of a type at most"
    yield from _spoken_of((*path, "subjects"), subjects, types)
    if OF_RELATIVE in subjects.values() and "relationship" not in types:
        yield path, f"{OF_RELATIVE} needs a relationship slot"


def _talk_faults(talk: TalkEntry, taxonomy: Taxonomy) -> Iterator[Fault]:
    for name in ("chatter", "distractors", "asks", "turns", "quoted", "prefaces", "tails"):
        yield from _text_faults(("talk", name), getattr(talk, name), [])
    yield from _text_faults(("talk", "second_hand"), talk.second_hand, [ASKED_FOR])
    yield from _text_faults(("talk", "drafts"), talk.drafts, [VALUES])
    for number, qualifier in enumerate(talk.qualifiers):
        for slot in qualifier.slots:
            kind, _, subtype = slot.partition(".")
            yield from ((("talk", "qualifiers", number), fault) for fault in subtype_faults(_spelled(kind), [subtype], taxonomy))
    registers = {ANY_REGISTER, *load_registers()}
    for name, by_register in (("openers", talk.openers), ("closers", talk.closers)):
        for register, patterns in by_register.items():
            if register not in registers:
                yield ("talk", name, register), f"there is no register {register!r}, so this is never used"
            yield from _text_faults(("talk", name, register), patterns, [])


def _text_faults(path: KeyPath, patterns: Sequence[str], slots: Sequence[str]) -> Iterator[Fault]:
    for number, pattern in enumerate(patterns):
        for fault in pattern_faults(pattern, slots):
            yield (*path, number), fault


def pattern_faults(pattern: str, slots: Sequence[str] | None) -> Iterator[str]:
    """Yield what is wrong with a pattern that must use each of *slots* exactly once in every expansion.

    With None any slot may be used, also exactly once.
    """
    try:
        used = slot_counts(pattern)
        repeated = repeated_alternatives(pattern)
    except ConfigError as error:
        yield error.message
        return
    if "{^:" in pattern:
        yield "a slot that begins a sentence ({^:…}) is for stories only"
    for text in repeated:
        yield f"the alternative {text!r} occurs twice in one choice; remove one of them"
    wanted = used if slots is None else slots
    for name in used:
        if name not in wanted:
            yield f"slot {{{name}}} is not for use here"
    for name in wanted:
        if used.get(name, (0, 0)) != (1, 1):
            yield f"slot {{{name}}} must stand exactly once in every expansion"


def _spelled(name: str) -> str:
    return name.replace("_", " ")
