"""Validity checks of bank files: known types, readable patterns, the right slots, and nothing that can never be used.

Style (word counts, openings, what a question may say) is checked by ``bank_style``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.words import count_words
from piiloom.foundation.yaml_files import KeyPath, YamlDocument, key_name
from piiloom.taxonomy.bank_files import BankFile, FrameEntry, ScenarioEntry, TalkEntry
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.grammar import repeated_alternatives, slot_counts
from piiloom.taxonomy.registers import ANY_REGISTER, load_registers
from piiloom.taxonomy.story_checks import Fault, pair_faults, story_faults, subtype_faults

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
