"""Reading and writing a types file. Each fault is reported with file, line and key. ``docs/own-types.md`` shows a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from anyascii import anyascii

from piiloom.foundation.errors import ConfigError, OutputError, PiiloomError, UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.whole_files import drafted
from piiloom.foundation.words import content_words
from piiloom.foundation.yaml_files import KeyPath, YamlDocument, data_folder, key_name, read_document
from piiloom.taxonomy.bank_checks import BankFile
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.entity_types import Form, bare_spelling, shipped_taxonomy
from piiloom.taxonomy.own_types import ALL_TYPES, VALUE, OwnSubtype, OwnType, OwnTypes, clashes
from piiloom.taxonomy.value_patterns import ValueGenerator, draw_own_value, read_value_pattern, value_fault

MOST_TYPES = 50
MOST_ENTRIES = 20_000  # of a lexicon
MOST_NAME = 40
_CHECKED_DRAWS = 100
_DRAWN_EXAMPLES = 3
_SHORT = 3  # letters of words such as "of" and "the", by which nobody names a type
_NAME = re.compile(r"[a-z]+(?: [a-z]+)*")
_SUBTYPE = re.compile(r"[a-z][a-z_]*")
_WORD = re.compile(r"[a-z]+")
_REMEDY = "Correct the key named here; docs/own-types.md shows a file"
_TYPE_KEYS = (
    *("name", "definition", "examples", "counts", "does_not_count", "type_words", "aliases"),
    *("pairs", "form", "generator", "pattern", "subtypes"),
)
_SUBTYPE_KEYS = ("name", "definition", "examples", "form", "generator")
_GENERATOR_KEYS = ("lexicon", "pattern", "check", "entity")

R = TypeVar("R")


def read_types_file(path: Path) -> OwnTypes:
    """Return the types that the file at *path* defines. Raises ``ConfigError`` (file, line, key) for the first fault."""
    return _Reader(read_document(path), path.parent).types()


def has_bank(path: Path) -> bool:
    """Return whether the types file at *path* is a bank file as well: it has stories, scenarios or other parts of one."""
    data = read_document(path).data
    return isinstance(data, dict) and not data.keys().isdisjoint(BankFile.model_fields.keys() - {"types"})


def types_beside_stories(path: Path) -> OwnTypes:
    """Return the types that a bank file at *path* defines itself; none if it is a folder or has no types."""
    data = read_document(path).data if path.is_file() else None
    return read_types_file(path) if isinstance(data, dict) and "types" in data else ()


def write_types_file(own: OwnTypes, path: Path) -> None:
    """Write *own* as a types file, from which ``read_types_file`` reads the same. A lexicon stands in it, wherever it was read from."""
    entries = [
        {**asdict(one), "subtypes": [{**asdict(sub), "generator": _generator_entry(sub.generator)} for sub in one.subtypes]} for one in own
    ]
    path.write_text(json.dumps({"types": entries}, ensure_ascii=False, indent=1), encoding="utf-8")  # JSON is YAML


def _generator_entry(generator: ValueGenerator) -> str | dict[str, Any]:
    if generator.kind == "model":
        return "model"
    if generator.kind == "lexicon":
        return {"lexicon": generator.values}
    if generator.kind == "entity":
        return {"entity": generator.entity}
    return {"pattern": generator.pattern, "check": generator.check}


class _Reader:
    """Reads one types file. Lexicon files are looked up relative to *folder*."""

    def __init__(self, document: YamlDocument, folder: Path) -> None:
        self._document, self._folder = document, folder

    def types(self) -> OwnTypes:
        """Return all types, checked one by one and against each other."""
        data = self._mapping((), self._document.data, ("types", *BankFile.model_fields.keys() - {"types"}))
        entries = self._items(("types",), data.get("types"), "types")
        if len(entries) > MOST_TYPES:
            raise self._fault(("types",), f"{len(entries)} types are defined; at most {MOST_TYPES} are allowed")
        own = tuple(self._type(("types", number), entry) for number, entry in enumerate(entries))
        for path, fault in clashes(own):
            raise self._fault(("types", *path), fault)
        return own

    def _type(self, path: KeyPath, entry: Any) -> OwnType:
        data = self._mapping(path, entry, _TYPE_KEYS)
        name = self._text((*path, "name"), data.get("name"))
        if not _NAME.fullmatch(name) or len(name) > MOST_NAME:
            raise self._fault((*path, "name"), f"a type's name has small letters a to z, single blanks and at most {MOST_NAME} characters")
        if data.get("pattern") is not None:
            if data.get("generator") is not None:
                raise self._fault((*path, "pattern"), "a pattern is a generator; give one of both")
            data = {**data, "generator": {"pattern": data["pattern"]}}
        definition = self._definition(path, name, data)
        words = self._texts((*path, "type_words"), data.get("type_words"), optional=True)
        for place, word in enumerate(words):
            if not _WORD.fullmatch(word):
                raise self._fault((*path, "type_words", place), "a type word is one word in small letters a to z")
        return OwnType(
            name=name,
            definition=definition,
            subtypes=self._subtypes(path, data, definition),
            pairs=self._pairs((*path, "pairs"), data.get("pairs", ALL_TYPES)),
            counts=self._texts((*path, "counts"), data.get("counts"), optional=True),
            does_not_count=self._texts((*path, "does_not_count"), data.get("does_not_count"), optional=True),
            type_words=words,
            aliases=self._texts((*path, "aliases"), data.get("aliases"), optional=True),
        )

    def _definition(self, path: KeyPath, name: str, data: dict[str, Any]) -> str:
        """Return the definition; a type whose values a pattern describes needs no other."""
        if data.get("definition") is None and isinstance(data.get("generator"), dict) and "pattern" in data["generator"]:
            return f"Somebody's {name}."
        return self._text((*path, "definition"), data.get("definition"))

    def _pairs(self, path: KeyPath, value: Any) -> Any:
        if value == ALL_TYPES:
            return ALL_TYPES
        shipped = shipped_taxonomy().spellings
        return tuple(shipped.get(bare_spelling(name), name) for name in self._texts(path, value, optional=True))

    def _subtypes(self, path: KeyPath, data: dict[str, Any], definition: str) -> tuple[OwnSubtype, ...]:
        if data.get("subtypes") is None:
            return (self._subtype(path, {**data, "name": VALUE}, definition, None),)
        shared = None if data.get("generator") is None else self._generator((*path, "generator"), data["generator"])
        for key in ("examples", "form"):
            if data.get(key) is not None:
                raise self._fault((*path, key), f"a type with subtypes has its {key} there")
        found: list[OwnSubtype] = []
        for number, entry in enumerate(self._items((*path, "subtypes"), data["subtypes"], "subtypes")):
            place = (*path, "subtypes", number)
            one = self._mapping(place, entry, _SUBTYPE_KEYS)
            name = self._text((*place, "name"), one.get("name"))
            if not _SUBTYPE.fullmatch(name) or name == "asked_for" or any(name == known.name for known in found):
                raise self._fault((*place, "name"), "a subtype's name has letters a to z and _, and is used once in its type")
            found.append(self._subtype(place, one, definition, shared))
        return tuple(found)

    def _subtype(self, path: KeyPath, data: dict[str, Any], of_type: str, shared: ValueGenerator | None) -> OwnSubtype:
        if data.get("generator") is None and shared is not None:
            generator = shared
        else:
            generator = self._generator((*path, "generator"), data.get("generator"))
        form = data.get("form", "code" if generator.kind in ("pattern", "entity") else "noun_phrase")
        if form not in get_args(Form):
            raise self._fault((*path, "form"), f"unknown form; known: {', '.join(get_args(Form))}")
        if data.get("examples") is None and generator.pattern is not None:
            rng = derive_rng("examples", generator.pattern)
            data = {**data, "examples": [draw_own_value(generator, rng) for _ in range(_DRAWN_EXAMPLES)]}
        examples = self._texts((*path, "examples"), data.get("examples"))
        self._fit((*path, "examples"), examples)
        if len(examples) < 2:
            raise self._fault((*path, "examples"), "give two examples or more")
        definition = of_type if data.get("definition") is None else self._text((*path, "definition"), data["definition"])
        return OwnSubtype(name=data["name"], definition=definition, examples=examples, form=form, generator=generator)

    def _generator(self, path: KeyPath, value: Any) -> ValueGenerator:
        if value == "model":
            return ValueGenerator(kind="model")
        if not isinstance(value, dict):
            raise self._fault(path, "say where values come from: model, {lexicon: […]}, {lexicon: FILE}, {pattern: '…'} or {entity: ID}")
        data = self._mapping(path, value, _GENERATOR_KEYS)
        if sum(key in data for key in ("lexicon", "pattern", "entity")) != 1:
            raise self._fault(path, "give either a lexicon, a pattern or an entity")
        if "entity" in data:
            return self._entity((*path, "entity"), self._text((*path, "entity"), data["entity"]))
        if "lexicon" in data:
            if "check" in data:
                raise self._fault((*path, "check"), "check works with a pattern only; remove unwanted entries from the lexicon instead")
            return ValueGenerator(kind="lexicon", values=self._lexicon((*path, "lexicon"), data["lexicon"]))
        check = None if data.get("check") is None else self._text((*path, "check"), data["check"]).removeprefix("stdnum.")
        return self._pattern(path, self._text((*path, "pattern"), data["pattern"]), check)

    def _entity(self, path: KeyPath, name: str) -> ValueGenerator:
        found = find_shipped(name)
        if found is None or found.generator is None or found.generator.draw is not None:
            raise self._fault(path, f"the catalogue has no entity {name!r} that says how its values look; see piiloom entities list")
        return ValueGenerator(kind="entity", values=(name,))

    def _pattern(self, path: KeyPath, pattern: str, check: str | None) -> ValueGenerator:
        found = self._told((*path, "pattern"), lambda: read_value_pattern(pattern))
        if found.count < 2:
            raise self._fault((*path, "pattern"), "the pattern has one value only")
        generator = ValueGenerator(kind="pattern", pattern=pattern, check=check)
        rng = derive_rng("types file", pattern)
        place = (*path, "pattern" if check is None else "check")
        for _ in range(_CHECKED_DRAWS):
            fault = value_fault(self._told(place, lambda: draw_own_value(generator, rng)))
            if fault is not None:
                raise self._fault((*path, "pattern"), f"it gives something that cannot be a value: {fault}")
        return generator

    def _lexicon(self, path: KeyPath, value: Any) -> tuple[str, ...]:
        if isinstance(value, str):
            lines = self._lines(path, self._folder / value)
            for number, line in lines:
                if (fault := value_fault(line)) is not None:
                    raise ConfigError(f"cannot be a value: {fault}", where=f"{Path(value).name}:{number}", remedy="Correct the line")
            entries = tuple(dict.fromkeys(line for _, line in lines))
        else:
            entries = self._texts(path, value)
            self._fit(path, entries)
        if not 2 <= len({entry.casefold() for entry in entries}) <= len(entries) <= MOST_ENTRIES:
            raise self._fault(path, f"a lexicon has 2 to {MOST_ENTRIES:,} different entries")
        return entries

    def _lines(self, path: KeyPath, file: Path) -> list[tuple[int, str]]:
        try:
            text = file.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise self._fault(path, f"the lexicon file cannot be read ({error.strerror}); it is looked for beside the types file") from None
        except UnicodeDecodeError:
            raise self._fault(path, "the lexicon file is not UTF-8 text") from None
        numbered = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
        return [(number, line) for number, line in numbered if line and not line.startswith("#")]

    def _fit(self, path: KeyPath, values: Iterable[str]) -> None:
        for place, value in enumerate(values):
            if (fault := value_fault(value)) is not None:
                raise self._fault((*path, place), f"cannot be a value: {fault}")

    def _mapping(self, path: KeyPath, value: Any, known: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._fault(path, f"there should be keys here: {', '.join(known)}")
        for key in value:
            if key not in known:
                raise self._fault((*path, str(key)), f"unknown key; known: {', '.join(known)}")
        return value

    def _items(self, path: KeyPath, value: Any, what: str) -> list[Any]:
        if not isinstance(value, list) or not value:
            raise self._fault(path, f"there should be a list of {what} here")
        return value

    def _texts(self, path: KeyPath, value: Any, *, optional: bool = False) -> tuple[str, ...]:
        if optional and value in (None, []):
            return ()
        return tuple(self._text((*path, place), entry) for place, entry in enumerate(self._items(path, value, "texts")))

    def _text(self, path: KeyPath, value: Any) -> str:
        if value is None:
            raise self._fault(path, "it is missing")
        if not isinstance(value, str):
            raise self._fault(path, "this is not a text; put it in quotes")
        if not value.strip():
            raise self._fault(path, "the text is empty")
        return value.strip()

    def _told(self, path: KeyPath, work: Callable[[], R]) -> R:
        """Return the result of *work*. A ``PiiloomError`` in it is raised again as a ``ConfigError`` with the place *path*."""
        try:
            return work()
        except PiiloomError as error:
            raise self._fault(path, error.message) from error

    def _fault(self, path: KeyPath, what: str) -> ConfigError:
        return ConfigError(f"{key_name(path) or 'document'}: {what}", where=self._document.where(path), remedy=_REMEDY)


def write_example_file(name: str, out: Path | None = None, *, force: bool = False) -> tuple[Path, OwnType]:
    """Write the types file of a new type to *out* (NAME.yaml); return the file and the type.

    Raises ``UsageError`` for a name that cannot be one, and ``OutputError`` for a file that is there, unless *force*.
    """
    plain, text = example_file(name)
    path = out or Path(f"{plain.replace(' ', '_')}.yaml")
    if path.exists() and not force:
        raise OutputError("the file is there already", where=str(path), remedy="Name another with --out, or replace it with --force")
    with drafted(path) as file:
        file.write(text.encode())
    (made,) = read_types_file(path)
    return path, made


def example_file(name: str) -> tuple[str, str]:
    """Return the name of a type for *name*, and the text of a types file that has it, a pattern for its values and a story of it.

    The name is written in small letters a to z; another spelling becomes an alias. Raises ``UsageError`` if that is not possible, or if
    the name means a type already.
    """
    plain = " ".join(re.findall("[a-z]+", anyascii(name).casefold()))
    if not plain or len(plain) > MOST_NAME:
        fault = f"{name!r} gives no name of a type"
        raise UsageError(fault, where="NAME", remedy=f"A name has words of letters, at most {MOST_NAME} characters")
    aliases = [name.strip()] if bare_spelling(name) != bare_spelling(plain) else []
    pattern = f"{''.join(word[0] for word in plain.split()[:3]).upper()}-[0-9]{{6}}"
    taken = shipped_taxonomy().resolve(plain) or shipped_taxonomy().resolve(name)
    if taken is not None:
        remedy = "Choose another name; piiloom types list shows the types that ship"
        raise UsageError(f"{name!r} means the type {taken!r} that ships with piiloom", where="NAME", remedy=remedy)
    words = [word for word in plain.split() if len(word) > _SHORT] or sorted(content_words(plain)) or plain.split()
    topics = ("new employer", "first weeks")
    filled = {
        "topic": next((one for one in topics if set(words).isdisjoint(one.split())), topics[0]),
        "name": plain,
        "type": _as_text(plain),
        "pair": "-".join(sorted((plain.replace(" ", "_"), "occupation"))),
        "words": f"[{', '.join(map(_as_text, words))}]",
        "aliases": json.dumps(aliases, ensure_ascii=False),
        "pattern": pattern,
    }
    text = (data_folder("taxonomy") / "own_type_example.yaml").read_text(encoding="utf-8")
    for key, value in filled.items():
        text = text.replace(f"@{key}@", value)
    before, *questions = text.split("      - id: ")
    # A question does not name a type. It goes if each of its wordings does.
    kept = (
        "".join(
            line for line in one.splitlines(keepends=True) if '- "' not in line or set(words).isdisjoint(re.findall("[a-z]+", line.lower()))
        )
        for one in questions
    )
    return plain, "      - id: ".join((before, *(one for one in kept if '- "' in one)))


def _as_text(word: str) -> str:
    """Return *word* as YAML reads it as a text: in quotes, if it means something else, such as true."""
    return word if yaml.safe_load(word) == word else json.dumps(word)
