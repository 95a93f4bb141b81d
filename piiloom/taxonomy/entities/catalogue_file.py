r"""Files of the entity catalogue, and the syntax of their patterns.

Patterns are a subset of regular expressions that all engines understand alike.

There are literals, ``\d``, ``\n``, ``\r``, ``\t``, classes (``[A-Z0-9]``, ``[^ @]``), ``\p{L}``, ``\p{Lu}``, ``\p{Ll}``, ``\p{Han}``,
groups ``(?:a|b)``, and the quantifiers ``?``, ``{m}``, ``{m,n}``; ``+`` follows a single character or class only. There is no ``*``, no
``.``, no anchor, no look-around, no capturing group, and nothing that may match an empty text. The engine, not the pattern, checks the
neighbors of a match (``boundary``, ``guard``, ``preceded_by`` and ``followed_by`` of an ``EntityPattern``). Ranges in classes are of
ASCII characters.

What an entry of the entity catalogue is: one kind of personal information, how it looks, and how sure a match of it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import FileModel, KeyPath, YamlDocument, key_name, read_document, validate_document
from piiloom.taxonomy.entities.validators.registry import find_validator
from piiloom.taxonomy.entity_types import shipped_taxonomy

Boundary = Literal["word", "none"]
Guard = Literal["number", "dotted", "none"]
Identifier = Literal["direct", "quasi"]
Domain = Literal["Finance", "Travel", "Healthcare", "IT", "CPG", "Media"]

DOMAINS: Final[tuple[Domain, ...]] = ("Finance", "Travel", "Healthcare", "IT", "CPG", "Media")
UNIVERSAL: Final = "universal"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityPattern:
    """One way of writing an entity. ``pattern`` is in the syntax of ``catalogue_file``.

    ``score``: how sure a match is with no context word near it, 0 to 1. ``boundary`` "word": no letter, digit or underscore adjoins a
    word character at either end (Han, kana and Hangul are written without blanks, so they may). ``guard`` "number": a match that begins
    or ends with a digit is no piece of a longer number, such as 12.345; "dotted": nor of one with full stops alone, so that a port may
    follow an address. ``preceded_by``: one of these phrases, in small letters, is directly before. ``followed_by``: one of these phrases
    is directly behind, as whole words. ``unless``: no word that begins so comes after that phrase; up to three letters are a whole word.
    ``validator``: see ``Entity``; it replaces the entity's, and "none" means that there is none.
    """

    pattern: str
    score: float
    ignore_case: bool = False
    boundary: Boundary = "word"
    guard: Guard = "number"
    preceded_by: tuple[str, ...] = ()
    followed_by: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    validator: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """Where values come from; ``pii_values.entity_values`` draws them. Exactly one of the four is given."""

    masks: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    rule: str | None = None
    draw: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One kind of personal information of one locale, or of all ("universal").

    ``entity_type`` is one of the 15 types. ``validator`` is "stdnum:<module>", "piiloom:<function>" or "phonenumbers:<region>" (``*``
    stands for the region of the locale). ``context`` are beginnings of words, in small letters, that speak for it. ``sensitivity``:
    3 special category, 2 direct identifiers and money, 1 other. ``near_misses`` look like it and are none. ``confirmed``: a source says
    that it looks so. ``default``: it is looked for unasked; dates, say, are not. ``where`` is the file and line that defines it.
    ``form_of``: the universal entity of which it is the form in this locale, as pl_phone is of phone.
    """

    id: str
    locale: str
    name: str
    native: str
    domains: tuple[Domain, ...]
    structured: bool
    entity_type: str
    identifier: Identifier
    sensitivity: int
    priority: int
    patterns: tuple[EntityPattern, ...]
    validator: str | None
    context: tuple[str, ...]
    generator: Generator | None
    near_misses: tuple[str, ...]
    source: str
    confirmed: bool
    default: bool
    where: str
    form_of: str | None = None


MOST_REPEATS: Final = 2000
MOST_CHARACTERS: Final = 4000  # of a pattern
MOST_POSITIONS: Final = 6000  # characters of the pattern with its repeats written out: what an engine compiles
_MOST_DEPTH: Final = 12
_REPEATED: Final = re.compile(r"\{(\d{1,4})(?:,(\d{1,4}))?\}")
_PROPERTY: Final = re.compile(r"p\{(L|Lu|Ll|Han)\}")
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t"}
_SPECIAL: Final = frozenset("[](){}|?*+.^$\\")


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """One character: one of *characters*, or with one of the Unicode *properties*; the reverse if *negated*."""

    characters: frozenset[str]
    properties: frozenset[str] = frozenset()
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Repeat:
    """*node*, *fewest* to *most* times; None: without end."""

    node: Node
    fewest: int
    most: int | None


@dataclass(frozen=True, slots=True)
class TemplateSequence:
    """Nodes one after the other."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class TemplateChoice:
    """One of several options."""

    options: tuple[Node, ...]


Node = CharacterSet | Repeat | TemplateSequence | TemplateChoice


@lru_cache(maxsize=4096)
def parse_pattern(pattern: str) -> Node:
    """Parse *pattern*; the ``ConfigError`` for a malformed one names the character."""
    if len(pattern) > MOST_CHARACTERS:
        raise ConfigError(f"the pattern has {len(pattern)} characters; at most {MOST_CHARACTERS} are allowed")
    reading = _Reading(pattern)
    node = reading.choice(0)
    if reading.at < len(pattern):
        raise reading.fault("')' closes nothing")
    if shortest(node) == 0:
        raise ConfigError("the pattern matches an empty text")
    if (count := positions(node)) > MOST_POSITIONS:
        raise ConfigError(f"with its repeats written out the pattern has {count} places; at most {MOST_POSITIONS} are allowed")
    return node


def shortest(node: Node) -> int:
    """The length of the shortest text that *node* matches, in characters."""
    match node:
        case CharacterSet():
            return 1
        case Repeat():
            return node.fewest * shortest(node.node)
        case TemplateSequence():
            return sum(map(shortest, node.nodes))
        case TemplateChoice():
            return min(map(shortest, node.options))


def longest(node: Node) -> int | None:
    """The length of the longest text that *node* matches; None if there is no limit."""
    match node:
        case CharacterSet():
            return 1
        case Repeat():
            one = longest(node.node)
            return None if one is None or node.most is None else node.most * one
        case TemplateSequence():
            lengths = [longest(one) for one in node.nodes]
            return None if None in lengths else sum(length for length in lengths if length is not None)
        case TemplateChoice():
            lengths = [longest(one) for one in node.options]
            return None if None in lengths else max(length for length in lengths if length is not None)


def positions(node: Node) -> int:
    """The number of characters and classes of *node* with repeats written out."""
    match node:
        case CharacterSet():
            return 1
        case Repeat():
            return positions(node.node) * (node.fewest + 1 if node.most is None else node.most)
        case TemplateSequence():
            return sum(map(positions, node.nodes))
        case TemplateChoice():
            return sum(map(positions, node.options))


class _Reading:
    """A parser that reads from left to right. ``at`` is the index of the next character."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self.at = 0

    def fault(self, what: str) -> ConfigError:
        return ConfigError(f"character {self.at + 1} of the pattern: {what}")

    def choice(self, depth: int) -> Node:
        """Parse options up to the end or a closing bracket."""
        if depth > _MOST_DEPTH:
            raise self.fault("brackets are nested too deeply")
        options = [self._sequence(depth)]
        while self._next() == "|":
            self.at += 1
            options.append(self._sequence(depth))
        return options[0] if len(options) == 1 else TemplateChoice(tuple(options))

    def _next(self) -> str:
        return self._pattern[self.at : self.at + 1]

    def _sequence(self, depth: int) -> Node:
        nodes: list[Node] = []
        while self._next() not in ("", "|", ")"):
            nodes.append(self._repeated(self._one(depth)))
        return nodes[0] if len(nodes) == 1 else TemplateSequence(tuple(nodes))

    def _one(self, depth: int) -> Node:
        character = self._next()
        if character == "[":
            return self._class()
        if character == "(":
            return self._group(depth)
        if character == "\\":
            self.at += 1
            return self._escaped()
        if character in _SPECIAL:
            raise self.fault(f"{character!r} has no meaning here; write \\{character} for the character itself")
        self.at += 1
        return CharacterSet(frozenset(character))

    def _group(self, depth: int) -> Node:
        if not self._pattern.startswith("(?:", self.at):
            raise self.fault("a group is written (?:…); capturing and look-around have no place in a pattern")
        opened = self.at
        self.at += 3
        node = self.choice(depth + 1)
        if self._next() != ")":
            self.at = opened
            raise self.fault("'(' is never closed")
        self.at += 1
        return node

    def _escaped(self) -> CharacterSet:
        """Parse what follows a backslash, which ``at`` has passed."""
        character = self._next()
        if not character:
            raise self.fault("a backslash has nothing behind it")
        if character == "d":
            self.at += 1
            return CharacterSet(frozenset("0123456789"))
        if found := _PROPERTY.match(self._pattern, self.at):
            self.at = found.end()
            return CharacterSet(frozenset(), frozenset({found[1]}))
        if character in _CONTROLS:
            self.at += 1
            return CharacterSet(frozenset(_CONTROLS[character]))
        if character.isalnum():
            raise self.fault(f"\\{character} is not known; there are \\d, \\n, \\r, \\t, \\p{{L}}, \\p{{Lu}}, \\p{{Ll}} and \\p{{Han}}")
        self.at += 1
        return CharacterSet(frozenset(character))

    def _class(self) -> CharacterSet:
        opened = self.at
        self.at += 1
        negated = self._next() == "^"
        self.at += negated
        characters: set[str] = set()
        properties: set[str] = set()
        while (character := self._next()) != "]":
            if not character or character == "[":
                self.at = self.at if character else opened
                raise self.fault("'[' in a class is written \\[" if character else "'[' is never closed")
            found = self._member()
            characters |= found.characters
            properties |= found.properties
        self.at += 1
        if not characters and not properties:
            raise self.fault("the class is empty")
        return CharacterSet(frozenset(characters), frozenset(properties), negated)

    def _member(self) -> CharacterSet:
        """Parse an escape, a range or a character of a class."""
        if self._next() == "\\":
            self.at += 1
            return self._escaped()
        first = self._next()
        last = self._pattern[self.at + 2 : self.at + 3]
        if self._pattern[self.at + 1 : self.at + 2] != "-" or last in ("", "]"):
            self.at += 1
            return CharacterSet(frozenset(first))
        if not (first.isascii() and last.isascii() and first < last):
            raise self.fault(f"the range {first}-{last} is upside down or not of ASCII characters")
        self.at += 3
        return CharacterSet(frozenset(map(chr, range(ord(first), ord(last) + 1))))

    def _repeated(self, node: Node) -> Node:
        character = self._next()
        if character == "+":
            if not isinstance(node, CharacterSet):
                raise self.fault("'+' stands after one character or class only; say how many times, as in {1,4}")
            fewest, most = 1, None
            self.at += 1
        elif character == "?":
            fewest, most = 0, 1
            self.at += 1
        elif found := _REPEATED.match(self._pattern, self.at):
            fewest, most = int(found[1]), int(found[2] or found[1])
            if not 0 < most <= MOST_REPEATS or fewest > most:
                raise self.fault(f"{found[0]} repeats nothing, is upside down or more than {MOST_REPEATS} times")
            self.at = found.end()
        else:
            return node
        if self._next() in ("?", "+", "*", "{"):
            raise self.fault("a second quantifier follows the first")
        return Repeat(node, fewest, most)


NO_VALIDATOR = "none"
_REMEDY = "Correct the key named here; docs/entity-catalogue.md shows a file"

CatalogueText = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Id = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
Phrases = Annotated[list[CatalogueText], Field(default=[])]


class _Pattern(FileModel):
    pattern: Annotated[str, StringConstraints(min_length=1)]
    score: Annotated[float, Field(ge=0, le=1, strict=False)]
    case: Literal["exact", "ignore"] = "exact"
    boundary: Boundary = "word"
    guard: Guard = "number"
    preceded_by: Phrases
    followed_by: Phrases
    unless: Phrases
    validator: CatalogueText | None = None


class _Generator(FileModel):
    masks: Phrases
    values: Phrases
    rule: CatalogueText | None = None
    draw: CatalogueText | None = None


class _Entity(FileModel):
    name: CatalogueText
    native: CatalogueText | None = None
    form_of: Id | None = None
    domains: Annotated[list[Domain], Field(min_length=1)]
    structured: bool
    type: CatalogueText
    identifier: Identifier
    sensitivity: Annotated[int, Field(ge=1, le=3)]
    priority: Annotated[int, Field(ge=0, le=100)]
    patterns: Annotated[list[_Pattern], Field(default=[])]
    validator: CatalogueText | None = None
    context: Phrases
    generator: _Generator | None = None
    near_misses: Annotated[list[str], Field(default=[])]
    source: CatalogueText
    confirmed: bool = True
    default: bool = True


class _CatalogueYaml(FileModel):
    locale: Annotated[str, StringConstraints(pattern=r"^(universal|[a-z]{2}_[A-Z]{2})$")]
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")] = "en"
    against: Phrases
    notes: CatalogueText | None = None
    context: Annotated[dict[Id, list[CatalogueText]], Field(default={})]
    entities: dict[Id, _Entity]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueFile:
    """What one file says. ``context`` adds words of its language to universal entities; ``against`` are words that speak against ids.

    ``of_types``: its entities are a user's own types, which are preferred to shipped entities that look the same.
    """

    locale: str
    language: str
    against: tuple[str, ...]
    notes: str | None
    context: Mapping[str, tuple[str, ...]]
    entities: tuple[Entity, ...]
    where_of_context: Mapping[str, str]
    of_types: bool = False


def read_catalogue_file(source: Traversable | Path) -> CatalogueFile:
    """Read the file *source*. Raises ``ConfigError`` (file, line, key) for the first faults."""
    document = read_document(source)
    found = validate_document(document, _CatalogueYaml)
    entities = tuple(_entity(document, found.locale, name, entry) for name, entry in found.entities.items())
    return CatalogueFile(
        locale=found.locale,
        language=found.language,
        against=_lower(found.against),
        notes=found.notes,
        context={name: _lower(words) for name, words in found.context.items()},
        entities=entities,
        where_of_context={name: document.where(("context", name)) for name in found.context},
    )


def _lower(phrases: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(phrase.lower() for phrase in phrases))


def _entity(document: YamlDocument, locale: str, name: str, entry: _Entity) -> Entity:
    path: KeyPath = ("entities", name)
    if entry.type not in shipped_taxonomy().types:
        known = ", ".join(shipped_taxonomy().types)
        raise _fault(document, (*path, "type"), f"there is no type {entry.type!r}; known: {known}")
    if entry.structured and not entry.patterns:
        raise _fault(document, path, "a structured entity has patterns")
    if entry.validator is not None:
        _check_validator(document, (*path, "validator"), entry.validator, locale)
    for at, pattern in enumerate(entry.patterns):
        _check_pattern(document, (*path, "patterns", at), pattern, locale)
    if entry.generator is not None:
        _check_generator(document, (*path, "generator"), entry.generator)
    return Entity(
        id=name,
        locale=locale,
        name=entry.name,
        native=entry.native or entry.name,
        domains=tuple(dict.fromkeys(entry.domains)),
        structured=entry.structured,
        entity_type=entry.type,
        identifier=entry.identifier,
        sensitivity=entry.sensitivity,
        priority=entry.priority,
        patterns=tuple(_pattern(pattern) for pattern in entry.patterns),
        validator=None if entry.validator == NO_VALIDATOR else entry.validator,
        context=_lower(entry.context),
        generator=_generator(entry.generator) if entry.generator is not None else None,
        near_misses=tuple(entry.near_misses),
        source=entry.source,
        confirmed=entry.confirmed,
        default=entry.default,
        where=document.where(path),
        form_of=entry.form_of,
    )


def _pattern(entry: _Pattern) -> EntityPattern:
    return EntityPattern(
        pattern=entry.pattern,
        score=entry.score,
        ignore_case=entry.case == "ignore",
        boundary=entry.boundary,
        guard=entry.guard,
        preceded_by=_lower(entry.preceded_by),
        followed_by=_lower(entry.followed_by),
        unless=_lower(entry.unless),
        validator=entry.validator,
    )


def _generator(entry: _Generator) -> Generator:
    return Generator(masks=tuple(entry.masks), values=tuple(entry.values), rule=entry.rule, draw=entry.draw)


def _check_pattern(document: YamlDocument, path: KeyPath, entry: _Pattern, locale: str) -> None:
    try:
        parse_pattern(entry.pattern)
    except ConfigError as error:
        raise _fault(document, (*path, "pattern"), error.message) from None
    if entry.unless and not entry.followed_by:
        raise _fault(document, (*path, "unless"), "a pattern with unless has followed_by")
    if entry.validator is not None:
        _check_validator(document, (*path, "validator"), entry.validator, locale)


def _check_validator(document: YamlDocument, path: KeyPath, name: str, locale: str) -> None:
    if name == NO_VALIDATOR:
        return
    try:
        find_validator(name, None if locale == UNIVERSAL else locale[3:])
    except ConfigError as error:
        raise _fault(document, path, error.message) from None


def _check_generator(document: YamlDocument, path: KeyPath, entry: _Generator) -> None:
    given = [name for name in ("masks", "values", "rule", "draw") if getattr(entry, name)]
    if len(given) != 1:
        raise _fault(document, path, "give exactly one of masks, values, rule and draw")


def _fault(document: YamlDocument, path: KeyPath, what: str) -> ConfigError:
    return ConfigError(f"{key_name(path)}: {what}", where=document.where(path), remedy=_REMEDY)
