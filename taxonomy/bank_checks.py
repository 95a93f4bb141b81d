"""What a bank file must satisfy so that texts can be made from it: known types, readable patterns, the right slots.

Style (word counts, openings, what a question may say) is the matter of ``bank_lint``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from foundation.errors import ConfigError
from foundation.yaml_files import KeyPath, YamlDocument, key_name
from taxonomy.bank_files import BankFile
from taxonomy.entity_types import EntityType, Taxonomy, load_taxonomy
from taxonomy.grammar import slot_counts

VALUE_SLOT = "v"  # what a clause calls the one value it carries


def slot_name(entity_type: str) -> str:
    """The slot of a type in patterns: its name with ``_`` for blanks."""
    return entity_type.replace(" ", "_")


def check_bank_file(parsed: BankFile, document: YamlDocument) -> None:
    """Raise ``ConfigError`` (file, line, key) at the first entry that no text could be made from."""
    taxonomy = load_taxonomy()
    for path, fault in _faults(parsed, taxonomy):
        raise ConfigError(f"{key_name(path)}: {fault}", where=document.where(path), remedy="Correct the entry named here.")


def _faults(parsed: BankFile, taxonomy: Taxonomy) -> Iterator[tuple[KeyPath, str]]:
    for index, entry in enumerate(parsed.scenarios):
        path: KeyPath = ("scenarios", index)
        for fault in scenario_faults(entry.pair, entry.uses, [*entry.subjects, *entry.rationale], taxonomy):
            yield path, fault
        slots = [slot_name(name) for name in entry.pair]
        yield from _text_faults((*path, "situation"), entry.situation, slots, once=True)
        yield from _text_faults((*path, "question", "draft"), entry.question.draft, slots)
        yield from _text_faults((*path, "question", "personal"), entry.question.personal, [])
        yield from _text_faults((*path, "question", "abstracted"), entry.question.abstracted, [])
    for key, patterns in parsed.clauses.items():
        for fault in clause_key_faults(key, taxonomy):
            yield ("clauses", key), fault
        yield from _text_faults(("clauses", key), patterns, [VALUE_SLOT], once=True)
    yield from _text_faults(("fillers",), parsed.fillers, [])


def _text_faults(path: KeyPath, patterns: Sequence[str], slots: Sequence[str], *, once: bool = False) -> Iterator[tuple[KeyPath, str]]:
    for number, pattern in enumerate(patterns):
        for fault in pattern_faults(pattern, slots, once=once):
            yield (*path, number), fault


def scenario_faults(pair: Sequence[str], uses: Mapping[str, Sequence[str]], explained: Iterable[str], taxonomy: Taxonomy) -> Iterator[str]:
    """What is wrong with a scenario's types: *pair*, what it *uses*, and the types its subjects and rationale speak of."""
    for name in pair:
        if name not in taxonomy.types:
            yield f"unknown type {name!r}"
        elif not taxonomy.types[name].pairable:
            yield f"type {name!r} cannot be part of a pair"
    if len(set(pair)) != 2:
        yield "a pair is two different types"
    if set(uses) != set(pair):
        yield "uses must name the two types of the pair"
    for name in sorted(uses.keys() & taxonomy.types.keys()):
        yield from _subtype_faults(taxonomy.types[name], uses[name])
    for name in dict.fromkeys(explained):
        if name not in pair:
            yield f"subjects or rationale speak of {name!r}, which is not in the pair"


def _subtype_faults(entity_type: EntityType, subtypes: Iterable[str]) -> Iterator[str]:
    known = {subtype.name for subtype in entity_type.subtypes}
    for subtype in subtypes:
        if subtype not in known:
            yield f"type {entity_type.name!r} has no subtype {subtype!r}"


def clause_key_faults(key: str, taxonomy: Taxonomy) -> Iterator[str]:
    """What is wrong with the key of a list of clauses, which is ``type.subtype``."""
    name, _, subtype = key.partition(".")
    entity_type = taxonomy.types.get(name.replace("_", " "))
    if entity_type is None:
        yield f"unknown type {name!r}"
    else:
        yield from _subtype_faults(entity_type, [subtype])


def pattern_faults(pattern: str, slots: Sequence[str], *, once: bool = False) -> Iterator[str]:
    """What is wrong with a pattern that may use *slots* and, if *once*, must use each exactly once in every expansion."""
    try:
        used = slot_counts(pattern)
    except ConfigError as error:
        yield error.message
        return
    for name in used:
        if name not in slots:
            yield f"slot {{{name}}} is not for use here"
    for name in slots:
        if once and used.get(name, (0, 0)) != (1, 1):
            yield f"slot {{{name}}} must stand exactly once in every expansion"
