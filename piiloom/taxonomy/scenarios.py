"""The scenario bank: everyday problems in which two types of PII both matter, and what people say around them.

A bank is a folder of YAML files for one language (``data/banks/<language>``): ``scenarios``, ``frames`` (asides that carry
values which do not matter) and ``talk`` (sentences without PII). A bank of the user's own adds to the one that ships: a file
with any of the three keys, or a folder of such files. Its entries are all checked when it is read; those that ship are
checked by ``bank_lint`` in the tests.

Which subtypes state the same fact about a person (``data/facts.yaml``), so that a text states it once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel, ConfigDict

from piiloom.foundation.yaml_files import data_folder, load_yaml
from piiloom.taxonomy.entity_types import Pair


class _Facts(BaseModel):
    model_config = ConfigDict(extra="forbid")

    facts: dict[str, list[list[str]]]


@lru_cache(maxsize=1)
def _groups() -> dict[tuple[str, str], str]:
    listed = load_yaml(data_folder("taxonomy") / "facts.yaml", _Facts).facts
    return {(kind, subtype): f"{kind}.{group[0]}" for kind, groups in listed.items() for group in groups for subtype in group}


def fact_of(entity_type: str, subtype: str) -> str | None:
    """Return the name of the fact that this subtype states; None if a person can have any number of them."""
    return _groups().get((entity_type, subtype))


SlotKey = tuple[str, str]  # entity type (spelled with blanks) and subtype


@dataclass(frozen=True, slots=True, kw_only=True)
class Also:
    """A further type that changes the answer of a scenario, and why."""

    uses: tuple[str, ...]
    why: str
    tells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One everyday problem of a pair of types. Its texts are ``grammar`` patterns; ``origin`` is its ``file:line``.

    ``uses`` gives the subtypes that may fill each type's slot. ``subjects`` says whose value it is if not the writer's ("@relationship":
    the person in that slot). ``tells`` disclose values, ``stakes`` hold none; ``questions`` are by cue level.
    """

    id: str
    pair: Pair
    uses: Mapping[str, tuple[str, ...]]
    subjects: Mapping[str, str]
    also: Mapping[str, Also]
    topic: str
    subtopics: tuple[str, ...]
    rationale: Mapping[str, str]
    tells: Mapping[str, tuple[str, ...]]
    stakes: tuple[str, ...]
    questions: Mapping[str, tuple[str, ...]]
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """An aside with one or more slots, each ``{type.subtype}``. ``subjects`` is as in ``Scenario``.

    ``last`` means that it ends a text, as a signature does. ``index`` is its position in the bank.
    """

    text: str
    slots: tuple[SlotKey, ...]
    subjects: Mapping[str, str]
    last: bool
    index: int
    origin: str

    def subject(self, entity_type: str) -> str:
        """Return whose fact the slot of *entity_type* holds; "self" is the writer."""
        return self.subjects.get(entity_type, "self")


@dataclass(frozen=True, slots=True, kw_only=True)
class Qualifier:
    """Words that may be put before a value ("about $40") if the word before it is one of *after* (lower case)."""

    after: frozenset[str]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definite:
    """The article that a value takes if the word before it is one of *after* (lower case)."""

    article: str
    after: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """Sentences that disclose nothing, by purpose.

    ``openers`` and ``closers`` are by register ("any": all), ``qualifiers`` by slot, ``definite`` by value.
    """

    chatter: tuple[str, ...] = ()
    distractors: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    openers: Mapping[str, tuple[str, ...]]
    closers: Mapping[str, tuple[str, ...]]
    turns: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    second_hand: tuple[str, ...] = ()
    prefaces: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    plain_starts: frozenset[str] = frozenset()
    kept_starts: frozenset[str] = frozenset()
    shorthand: Mapping[str, tuple[str, ...]]
    subject_words: tuple[str, ...] = ()
    hesitations: tuple[str, ...] = ()
    emoji: tuple[str, ...] = ()
    qualifiers: Mapping[SlotKey, Qualifier]
    definite: Mapping[str, Definite]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """The bank of one language.

    ``scenarios`` are by id, ``frames`` in bank order. ``frames_by_slot`` has the frames with one slot by that slot, ``frames_by_size`` all
    frames by their number of slots. ``digest`` is the SHA-256 (hex) of the files that were read.
    """

    language: str
    scenarios: Mapping[str, Scenario]
    pairs: Mapping[Pair, tuple[Scenario, ...]]
    frames: tuple[Frame, ...]
    frames_by_slot: Mapping[SlotKey, tuple[Frame, ...]]
    frames_by_size: Mapping[int, tuple[Frame, ...]]
    talk: Talk
    digest: str

    def for_pair(self, pair: Pair) -> tuple[Scenario, ...]:
        """Return the scenarios of *pair* in bank order; empty if there are none. The order of the two types does not matter."""
        return self.pairs.get((min(pair), max(pair)), ())

    def find(self, pair: Pair, topic: str | None = None, subtopic: str | None = None) -> tuple[Scenario, ...]:
        """Return the scenarios of *pair* with that topic and subtopic, ignoring case. ``None`` matches any."""
        return tuple(
            scenario
            for scenario in self.for_pair(pair)
            if (topic is None or scenario.topic.casefold() == topic.casefold())
            and (subtopic is None or subtopic.casefold() in {s.casefold() for s in scenario.subtopics})
        )
