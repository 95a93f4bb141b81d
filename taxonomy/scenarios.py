"""The scenario bank: everyday problems in which two types of PII both matter, and unrelated clauses to surround them with.

``data/scenarios`` holds one list ``scenarios`` a file; ``data/peripherals`` holds ``clauses`` (by ``type.subtype``) and
``fillers``. A bank of the user's own adds to them: a file with any of the three keys, or a folder of such files. Its patterns
are all parsed when it is read; those that ship are checked by ``bank_lint`` in the tests and parsed when first used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType

from foundation.errors import ConfigError
from foundation.yaml_files import read_document, validate_document
from taxonomy.bank_checks import check_bank_file
from taxonomy.bank_files import BankFile, ScenarioEntry
from taxonomy.entity_types import Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One everyday problem of a pair of types. The texts are patterns of ``grammar``; ``origin`` is its ``file:line``.

    ``uses`` gives the subtypes that may fill each type's slot, ``subjects`` whose value it is where that is not the writer.
    """

    id: str
    pair: Pair
    uses: Mapping[str, tuple[str, ...]]
    subjects: Mapping[str, str]
    topic: str
    subtopics: tuple[str, ...]
    rationale: Mapping[str, str]
    situation: tuple[str, ...]
    draft: tuple[str, ...]
    personal: tuple[str, ...]
    abstracted: tuple[str, ...]
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """All scenarios by id, and the peripheral clauses by ``type.subtype`` (types spelled as everywhere: with blanks)."""

    scenarios: Mapping[str, Scenario]
    clauses: Mapping[str, tuple[str, ...]]
    fillers: tuple[str, ...]
    digest: str
    pairs: Mapping[Pair, tuple[Scenario, ...]]

    def for_pair(self, pair: Pair) -> tuple[Scenario, ...]:
        """The scenarios of *pair* in bank order, in whichever order its types are named; empty when there is none."""
        return self.pairs.get((min(pair), max(pair)), ())

    def find(self, pair: Pair, topic: str | None = None, subtopic: str | None = None) -> tuple[Scenario, ...]:
        """The scenarios of *pair* with that topic and subtopic, whatever their case; ``None`` matches any."""
        return tuple(
            scenario
            for scenario in self.for_pair(pair)
            if (topic is None or scenario.topic.casefold() == topic.casefold())
            and (subtopic is None or subtopic.casefold() in {s.casefold() for s in scenario.subtopics})
        )

    def clauses_for(self, entity_type: str, subtype: str) -> tuple[str, ...]:
        """The clauses that can carry a value of this subtype; empty when there is none."""
        return self.clauses.get(f"{entity_type}.{subtype}", ())


@dataclass(slots=True)
class _Reading:
    """What has been read so far, file after file."""

    scenarios: dict[str, Scenario] = field(default_factory=dict)
    clauses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    fillers: list[str] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)

    def add(self, source: Traversable | Path, *, check: bool) -> None:
        document = read_document(source)
        parsed = validate_document(document, BankFile)
        if check:
            check_bank_file(parsed, document)
        for index, entry in enumerate(parsed.scenarios):
            scenario = _frozen(entry, document.where(("scenarios", index)))
            known = self.scenarios.setdefault(scenario.id, scenario)
            if known is not scenario:
                raise ConfigError(f"scenario id {scenario.id!r} is taken by {known.origin}", where=scenario.origin, remedy="Rename one.")
        for key, patterns in parsed.clauses.items():
            entity_type, _, subtype = key.partition(".")
            name = f"{entity_type.replace('_', ' ')}.{subtype}"
            self.clauses[name] = self.clauses.get(name, ()) + tuple(patterns)
        self.fillers.extend(parsed.fillers)
        self.raw.append(source.name.encode() + b"\0" + source.read_bytes() + b"\0")

    def bank(self) -> Bank:
        pairs: dict[Pair, tuple[Scenario, ...]] = {}
        for scenario in self.scenarios.values():
            pairs[scenario.pair] = (*pairs.get(scenario.pair, ()), scenario)
        return Bank(
            scenarios=MappingProxyType(self.scenarios),
            clauses=MappingProxyType(self.clauses),
            fillers=tuple(self.fillers),
            digest=hashlib.sha256(b"".join(self.raw)).hexdigest(),
            pairs=MappingProxyType(pairs),
        )


def load_bank(extra: Path | None = None) -> Bank:
    """The bank that ships with piiloom, with the file or folder *extra* added to it.

    Raises ``ConfigError`` (file, line, key) when a file is malformed, an id is taken, or *extra* names unknown types or
    subtypes or holds a pattern that cannot be read. Without *extra* the same object is given every time.
    """
    return _shipped_bank() if extra is None else _read_bank(extra)


@lru_cache(maxsize=1)
def _shipped_bank() -> Bank:
    return _read_bank(None)


def shipped_sources() -> tuple[Traversable, ...]:
    """The YAML files of the bank that ships with piiloom, in the order in which they are read."""
    data = files("taxonomy") / "data"
    return (*_yaml_files(data / "scenarios"), *_yaml_files(data / "peripherals"))


def _read_bank(extra: Path | None) -> Bank:
    reading = _Reading()
    for source in shipped_sources():
        reading.add(source, check=False)
    if extra is not None:
        for source in _yaml_files(extra) if extra.is_dir() else [extra]:
            reading.add(source, check=True)
    return reading.bank()


def _yaml_files(folder: Traversable | Path) -> list[Traversable]:
    return sorted((f for f in folder.iterdir() if f.name.endswith((".yaml", ".yml"))), key=lambda f: f.name)


def _frozen(entry: ScenarioEntry, origin: str) -> Scenario:
    first, second = sorted(entry.pair)
    return Scenario(
        id=entry.id,
        pair=(first, second),
        uses=MappingProxyType({name: tuple(subtypes) for name, subtypes in entry.uses.items()}),
        subjects=MappingProxyType(dict(entry.subjects)),
        topic=entry.topic,
        subtopics=tuple(entry.subtopics),
        rationale=MappingProxyType(dict(entry.rationale)),
        situation=tuple(entry.situation),
        draft=tuple(entry.question.draft),
        personal=tuple(entry.question.personal),
        abstracted=tuple(entry.question.abstracted),
        origin=origin,
    )
