"""Loading banks: the files that ship for a language, and those that a user adds."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import YamlDocument, data_folder, read_document, validate_document
from piiloom.taxonomy.bank_checks import MOST_SLOTS, OF_RELATIVE, BankFile, FrameEntry, ScenarioEntry, TalkEntry, check_bank_file
from piiloom.taxonomy.entity_types import Pair, Taxonomy
from piiloom.taxonomy.scenarios import Also, Bank, Definite, Frame, Qualifier, Scenario, SlotKey, Talk

STORIES = "stories"  # the folder of a bank that story_loading reads
_FRAME_SLOT = re.compile(r"\{(?:[aA]:)?([a-z_]+)\.([a-z_]+)\}")
_TALK_LISTS = (
    *("chatter", "distractors", "asks", "turns", "quoted", "second_hand", "prefaces", "tails", "drafts"),
    *("plain_starts", "kept_starts", "subject_words", "hesitations", "emoji"),
)


@dataclass(slots=True)
class _BankReading:
    """Collects the contents of bank files, file by file."""

    scenarios: dict[str, Scenario] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)
    lists: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in _TALK_LISTS})
    openers: dict[str, list[str]] = field(default_factory=dict)
    closers: dict[str, list[str]] = field(default_factory=dict)
    shorthand: dict[str, list[str]] = field(default_factory=dict)
    qualifiers: dict[SlotKey, Qualifier] = field(default_factory=dict)
    definite: dict[str, Definite] = field(default_factory=dict)
    read: hashlib._Hash = field(default_factory=hashlib.sha256)

    def copied(self) -> _BankReading:
        """Return a copy to which further files can be added."""
        by_key = {name: {key: list(known) for key, known in getattr(self, name).items()} for name in ("openers", "closers", "shorthand")}
        return _BankReading(
            scenarios=dict(self.scenarios),
            frames=list(self.frames),
            lists={name: list(known) for name, known in self.lists.items()},
            **by_key,
            qualifiers=dict(self.qualifiers),
            definite=dict(self.definite),
            read=self.read.copy(),
        )

    def add(self, source: Traversable | Path, check: Taxonomy | None) -> None:
        document = read_document(source)
        parsed = validate_document(document, BankFile)
        if check is not None:
            check_bank_file(parsed, document, check)
        for index, entry in enumerate(parsed.scenarios):
            scenario = _frozen(entry, document.where(("scenarios", index)))
            known = self.scenarios.setdefault(scenario.id, scenario)
            if known is not scenario:
                raise ConfigError(f"scenario id {scenario.id!r} is taken by {known.origin}", where=scenario.origin, remedy="Rename one.")
        self._add_frames(parsed, document)
        self._add_talk(parsed.talk)
        self.read.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")

    def _add_frames(self, parsed: BankFile, document: YamlDocument) -> None:
        for entry in parsed.frames:
            frame = entry if isinstance(entry, FrameEntry) else FrameEntry(text=entry)
            self.frames.append(
                Frame(
                    text=frame.text,
                    slots=frame_slots(frame.text),
                    subjects=_spelled(frame.subjects),
                    last=frame.last,
                    index=len(self.frames),
                    origin=document.file,
                )
            )

    def _add_talk(self, talk: TalkEntry) -> None:
        for name, known in self.lists.items():
            known.extend(getattr(talk, name))
        for known_by_key, added in (
            (self.openers, talk.openers),
            (self.closers, talk.closers),
            (self.shorthand, talk.shorthand),
        ):
            for key, patterns in added.items():
                known_by_key.setdefault(key, []).extend(patterns)
        for entry in talk.qualifiers:
            qualifier = Qualifier(after=frozenset(word.casefold() for word in entry.after), words=tuple(entry.words))
            for slot in entry.slots:
                kind, _, subtype = slot.partition(".")
                self.qualifiers[kind.replace("_", " "), subtype] = qualifier
        for found in talk.definite:
            definite = Definite(article=found.article, after=frozenset(word.casefold() for word in found.after))
            self.definite.update(dict.fromkeys(found.values, definite))

    def bank(self, language: str) -> Bank:
        pairs: dict[Pair, tuple[Scenario, ...]] = {}
        for scenario in self.scenarios.values():
            pairs[scenario.pair] = (*pairs.get(scenario.pair, ()), scenario)
        return Bank(
            language=language,
            scenarios=MappingProxyType(self.scenarios),
            pairs=MappingProxyType(pairs),
            frames=tuple(self.frames),
            frames_by_slot=_by_slot(self.frames),
            frames_by_size=MappingProxyType({n: tuple(f for f in self.frames if len(f.slots) == n) for n in range(1, 1 + MOST_SLOTS)}),
            talk=self._talk(),
            digest=self.read.hexdigest(),
        )

    def _talk(self) -> Talk:
        lists = {name: tuple(known) for name, known in self.lists.items()}
        return Talk(
            openers=_frozen_lists(self.openers),
            closers=_frozen_lists(self.closers),
            shorthand=_frozen_lists(self.shorthand),
            qualifiers=MappingProxyType(self.qualifiers),
            definite=MappingProxyType(self.definite),
            plain_starts=frozenset(lists.pop("plain_starts")),
            kept_starts=frozenset(lists.pop("kept_starts")),
            **lists,
        )


def frame_slots(text: str) -> tuple[SlotKey, ...]:
    """Return the (type, subtype) slots of a frame in text order, without duplicates."""
    return tuple(dict.fromkeys((name.replace("_", " "), subtype) for name, subtype in _FRAME_SLOT.findall(text)))


def load_bank(language: str, extra: Path | None, taxonomy: Taxonomy) -> Bank:
    """Load the bank that ships for *language* (ISO 639-1), with a user's file or folder *extra* added to it.

    *extra* may use all types of *taxonomy*. Raises ``ConfigError`` (file, line, key) if no bank ships for the language, a file is
    malformed, an id is taken, or *extra* names unknown types or subtypes or has a pattern from which no text can be made. Without *extra*
    the same object is returned every time.
    """
    if extra is None:
        return _shipped_bank(language)
    contents = tuple((s.name, s.read_bytes()) for s in user_sources(extra)) if extra.exists() else ()
    return _user_bank(language, extra, contents, taxonomy)


@lru_cache(maxsize=8)
def _shipped_bank(language: str) -> Bank:
    return _read_bank(language, None, None)


@lru_cache(maxsize=4)
def _user_bank(
    language: str,
    extra: Path,
    contents: tuple[tuple[str, bytes], ...],  # noqa: ARG001 - part of the key
    taxonomy: Taxonomy,
) -> Bank:
    return _read_bank(language, extra, taxonomy)


def bank_languages() -> tuple[str, ...]:
    """Return the languages for which a bank ships."""
    return tuple(sorted(folder.name for folder in (data_folder("taxonomy") / "banks").iterdir() if folder.is_dir()))


def shipped_sources(language: str) -> tuple[Traversable, ...]:
    """Return the YAML files of the bank that ships for *language*, in reading order, without its stories.

    Raises ``ConfigError`` if no bank ships for it.
    """
    if language not in bank_languages():
        raise ConfigError(
            f"no scenario bank ships for language {language!r}",
            where="--locale",
            remedy=f"There are banks for {', '.join(bank_languages())}.",
        )
    folder = data_folder("taxonomy") / "banks" / language
    return tuple(_yaml_files(folder, apart=STORIES))


def limited(bank: Bank, scenarios_per_pair: int | None = None, *, relatives: bool = True) -> Bank:
    """Return *bank* with only the first *scenarios_per_pair* scenarios of every pair; without *relatives*, with no facts about these."""
    fit = {pair: tuple(one for one in found if relatives or OF_RELATIVE not in one.subjects.values()) for pair, found in bank.pairs.items()}
    pairs = {pair: found[:scenarios_per_pair] for pair, found in fit.items() if found}
    kept = {scenario.id: scenario for found in pairs.values() for scenario in found}
    return replace(bank, pairs=MappingProxyType(pairs), scenarios=MappingProxyType(kept))


def _read_bank(language: str, extra: Path | None, taxonomy: Taxonomy | None) -> Bank:
    reading = _shipped_reading(language)
    if extra is not None:
        reading = reading.copied()
        for source in user_sources(extra):
            reading.add(source, taxonomy)
    return reading.bank(language)


@lru_cache(maxsize=2)
def _shipped_reading(language: str) -> _BankReading:
    """Read the shipped files once per process (this takes half a second). Copy the result before adding to it."""
    reading = _BankReading()
    for source in shipped_sources(language):
        reading.add(source, None)
    return reading


def user_sources(extra: Path) -> list[Traversable]:
    """Return the bank files of a user: *extra* itself, or every YAML file in the folder *extra*.

    Raises ``ConfigError`` if the folder has none.
    """
    found: list[Traversable] = _yaml_files(extra) if extra.is_dir() else [extra]
    if not found:
        raise ConfigError("the folder has no .yaml file", where=extra.name, remedy="Put bank files into it (docs/composer.md shows one).")
    return found


def _yaml_files(folder: Traversable | Path, *, apart: str | None = None) -> list[Traversable]:
    """Return the YAML files in *folder* and its subfolders, except those in its direct subfolder *apart*."""
    found: list[Traversable] = []
    for entry in sorted(folder.iterdir(), key=lambda f: f.name):
        if entry.is_dir():
            found.extend(_yaml_files(entry) if entry.name != apart else ())
        elif entry.name.endswith((".yaml", ".yml")):
            found.append(entry)
    return found


def _by_slot(frames: Iterable[Frame]) -> Mapping[SlotKey, tuple[Frame, ...]]:
    """Return the frames that have exactly one slot, by that slot."""
    single: dict[SlotKey, list[Frame]] = {}
    for frame in frames:
        if len(frame.slots) == 1:
            single.setdefault(frame.slots[0], []).append(frame)
    return MappingProxyType({slot: tuple(found) for slot, found in single.items()})


def _spelled(by_type: Mapping[str, str]) -> Mapping[str, str]:
    """Return *by_type* with the keys as types are spelled: blanks instead of ``_``."""
    return MappingProxyType({name.replace("_", " "): value for name, value in by_type.items()})


def _frozen_lists(lists: Mapping[str, list[str]]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({name: tuple(entries) for name, entries in lists.items()})


def _frozen(entry: ScenarioEntry, origin: str) -> Scenario:
    first, second = sorted(name.replace("_", " ") for name in entry.pair)
    return Scenario(
        id=entry.id,
        pair=(first, second),
        uses=MappingProxyType({name.replace("_", " "): tuple(subtypes) for name, subtypes in entry.uses.items()}),
        subjects=_spelled(entry.subjects),
        also=MappingProxyType(
            {name.replace("_", " "): Also(uses=tuple(a.uses), why=a.why, tells=tuple(a.tells)) for name, a in entry.also.items()}
        ),
        topic=entry.topic,
        subtopics=tuple(entry.subtopics),
        rationale=_spelled(entry.rationale),
        tells=MappingProxyType({name.replace("_", " "): tuple(patterns) for name, patterns in entry.tells.items()}),
        stakes=tuple(entry.stakes),
        questions=MappingProxyType(
            {
                "neutral": tuple(entry.questions.neutral),
                "implied": tuple(entry.questions.implied),
                "personal": tuple(entry.questions.personal),
            }
        ),
        origin=origin,
    )
