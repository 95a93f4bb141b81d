"""The PII types: their definitions, their subtypes, and their names in other data sets.

Each file in ``taxonomy/types`` defines one shipped type. A run or a store may have types of its own besides them: ``own_types.extended``
returns the taxonomy with both, which all code that needs types receives.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources.abc import Traversable
from itertools import combinations
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.foundation.yaml_files import FileModel, data_folder, load_yaml
from piiloom.taxonomy.value_patterns import ValueGenerator

Form = Literal["noun_phrase", "count_noun", "adjective", "noun", "proper", "amount", "number", "code", "phrase"]
Pair = tuple[str, str]
_SHOWN_EXAMPLES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtype:
    """One kind of value of a type.

    ``form`` is its grammatical form in a sentence. ``open`` means that values seldom repeat. ``generator`` is set for own types only;
    values of the others come from ``pii_values``.
    """

    name: str
    definition: str
    form: Form
    examples: tuple[str, ...]
    open: bool
    generator: ValueGenerator | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityType:
    """One PII type.

    ``type_words`` are words that name it in a question, ``aliases`` its spellings in imported files. ``own`` means that it does not ship
    with piiloom.
    """

    name: str
    definition: str
    counts: tuple[str, ...]
    does_not_count: tuple[str, ...]
    subtypes: tuple[Subtype, ...]
    pairable: bool
    open: bool
    type_words: frozenset[str]
    aliases: tuple[str, ...]
    own: bool = False

    def described(self) -> str:
        """Return the definition for a prompt template. An own type gets examples, since no model can know it."""
        if not self.own:
            return self.definition
        examples = dict.fromkeys(example for subtype in self.subtypes for example in subtype.examples)
        return f"{self.definition} For example: {'; '.join(list(examples)[:_SHOWN_EXAMPLES])}."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Taxonomy:
    """All types in canonical order and the pairs that they form.

    ``spellings`` maps names and aliases, reduced by ``bare_spelling``, to type names. ``digest`` is the SHA-256 of the source; taxonomies
    with the same digest are equal.
    """

    types: Mapping[str, EntityType]
    pairs: tuple[Pair, ...]
    spellings: Mapping[str, str]
    digest: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Taxonomy) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def get(self, name: str) -> EntityType:
        """Return the type called *name*. The ``UsageError`` for an unknown name lists the known names and the closest one."""
        found = self.types.get(name)
        if found is None:
            raise UsageError(f"unknown type {name!r}", remedy=self._known(name, self.types))
        return found

    def resolve(self, raw: str) -> str | None:
        """Return the type name for a spelling in another data set, or None. Case, spaces and punctuation are ignored."""
        return self.spellings.get(bare_spelling(raw))

    def subtype(self, entity_type: str, subtype: str) -> Subtype:
        """Return one subtype. Raises ``UsageError`` if the type or the subtype is unknown."""
        subtypes = {s.name: s for s in self.get(entity_type).subtypes}
        if subtype not in subtypes:
            raise UsageError(f"type {entity_type!r} has no subtype {subtype!r}", remedy=self._known(subtype, subtypes))
        return subtypes[subtype]

    def mates(self, name: str) -> tuple[str, ...]:
        """Return the types with which *name* forms pairs, in canonical order."""
        return tuple(other for other in self.types if (min(name, other), max(name, other)) in self.pairs)

    def parse_pairs(self, text: str) -> tuple[Pair, ...]:
        """Parse ``"all"`` or a list such as ``"health+occupation,age+belief"`` into pairs, in the given order without duplicates.

        Aliases of a type are understood. Raises ``UsageError`` if no pair is named, or a type is unknown, equals its partner or cannot be
        part of a pair.
        """
        if text.strip().casefold() == "all":
            return self.pairs
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if not parts:
            raise UsageError("no pair is given", remedy='Write "all" or, for example, "health+occupation,age+belief".')
        return tuple(dict.fromkeys(self._parse_pair(part) for part in parts))

    def _parse_pair(self, part: str) -> Pair:
        names = [self._pairable(name.strip()) for name in part.split("+")]
        if len(names) != 2 or names[0] == names[1]:
            raise UsageError(f"{part!r} is not a pair", remedy='A pair is two different types, such as "health+occupation".')
        first, second = sorted(names)
        if (first, second) not in self.pairs:
            own = next(name for name in names if self.types[name].own)
            mates = ", ".join(self.mates(own))
            raise UsageError(f"the types file does not pair {first!r} with {second!r}", remedy=f"{own} pairs with: {mates}.")
        return first, second

    def _pairable(self, raw: str) -> str:
        found = self.get(self.resolve(raw) or raw)
        if not found.pairable:
            names = ", ".join(t.name for t in self.types.values() if t.pairable)
            raise UsageError(f"type {found.name!r} cannot be part of a pair", remedy=f"Types that can: {names}.")
        return found.name

    @staticmethod
    def _known(name: str, known: Iterable[str]) -> str:
        names = list(known)
        close = get_close_matches(name.casefold(), names, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        return f"{hint}Known: {', '.join(names)}."


NonEmpty = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
TypeWord = Annotated[str, StringConstraints(pattern=r"^[a-z]+$")]


class _SubtypeFile(FileModel):
    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z_]*$")]
    definition: NonEmpty
    form: Form
    open: bool
    examples: list[NonEmpty] = Field(min_length=1)


class _TypeFile(FileModel):
    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z ]*[a-z]$")]
    order: int  # place in the canonical order; gaps leave room for new types
    definition: NonEmpty
    counts: list[NonEmpty] = Field(min_length=1)
    does_not_count: list[NonEmpty] = Field(min_length=1)
    pairable: bool
    open: bool
    type_words: list[TypeWord] = Field(min_length=1)
    aliases: list[NonEmpty]
    subtypes: list[_SubtypeFile] = Field(min_length=1)

    @field_validator("subtypes")
    @classmethod
    def _named_once(cls, subtypes: list[_SubtypeFile]) -> list[_SubtypeFile]:
        if len({subtype.name for subtype in subtypes}) != len(subtypes):
            raise ValueError("two subtypes share a name")
        return subtypes

    def frozen(self) -> EntityType:
        subtypes = tuple(
            Subtype(name=s.name, definition=s.definition, form=s.form, examples=tuple(s.examples), open=s.open) for s in self.subtypes
        )
        return EntityType(
            name=self.name,
            definition=self.definition,
            counts=tuple(self.counts),
            does_not_count=tuple(self.does_not_count),
            subtypes=subtypes,
            pairable=self.pairable,
            open=self.open,
            type_words=frozenset(self.type_words),
            aliases=tuple(self.aliases),
        )


@lru_cache(maxsize=1)
def shipped_taxonomy() -> Taxonomy:
    """Return the taxonomy that ships with piiloom. Raises ``ConfigError`` (file, line, key) if one of its files is malformed."""
    return read_taxonomy(data_folder("taxonomy") / "types")


def read_taxonomy(folder: Traversable) -> Taxonomy:
    """Read the taxonomy in *folder* (``*.yaml``, one type per file). Raises ``ConfigError`` if a file is malformed or names clash."""
    sources = sorted((f for f in folder.iterdir() if f.name.endswith(".yaml")), key=lambda f: f.name)
    found = [(load_yaml(source, _TypeFile), source) for source in sources]
    types: dict[str, EntityType] = {}
    spellings: dict[str, str] = {}
    for model, source in sorted(found, key=lambda pair: (pair[0].order, pair[0].name)):
        types[model.name] = model.frozen()
        for spelling in dict.fromkeys(bare_spelling(s) for s in (model.name, *model.aliases)):
            if spelling in spellings:
                raise ConfigError(f"{spelling!r} already means {spellings[spelling]!r}", where=f"{source.name}: aliases")
            spellings[spelling] = model.name
    pairable = [name for name, t in types.items() if t.pairable]
    pairs = tuple((min(a, b), max(a, b)) for a, b in combinations(pairable, 2))
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return Taxonomy(types=MappingProxyType(types), pairs=pairs, spellings=MappingProxyType(spellings), digest=digest.hexdigest())


def bare_spelling(raw: str) -> str:
    """Return a spelling reduced to its letters and digits, so that ``Sexual_Orientation`` and ``sexualorientation`` agree."""
    return re.sub(r"[\W_]+", "", raw.casefold())
