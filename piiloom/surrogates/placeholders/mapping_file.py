"""Read and write a mapping as a YAML file that people edit; errors name the line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, fields, replace
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

import yaml
from pydantic import BaseModel, Field, GetCoreSchemaHandler, create_model
from pydantic_core.core_schema import CoreSchema, no_info_after_validator_function

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import FileModel, YamlDocument, load_yaml, read_document, validate_document
from piiloom.surrogates.kinds.files import KindsFile
from piiloom.surrogates.placeholders.grammar_files import grammars
from piiloom.surrogates.placeholders.mapping import Mapping, Noted, Rule, Unlisted
from piiloom.surrogates.placeholders.vocabulary_files import LANGUAGES

T = TypeVar("T")
_LONGEST_REGEX: Final = 2_000
_GROUPS: Final = frozenset({"index", "number", "original", "role", "letter"})

_TOLD: Final = frozenset({"same", "use", "confidence"})  # written even if they have their default value

_HEAD: Final = """\
# What the placeholders of a corpus mean. Written by `piiloom surrogate survey`; edit it and give it to
# `piiloom surrogate run --placeholders FILE`.
#
# rules: one for each pattern. The pattern is either
#     tag: the placeholder as it stands in the text. {index} stands for a number or letter that tells several apart, {number} for a
#          second one, {original} for a value that the placeholder bears, {date} and {year} for a date, {digits} for digits that
#          stay; of "Dr. {letter}" only the letter is replaced.
#     regex: a regular expression; its groups index, number, original, role and letter (replace only this) are used. One that takes
#          more than a second on a document (and one more for each million characters) stops the run.
#   kind: what is put there (person, city, date ...). role and index tell whom or what it belongs to: equal role and index are one
#     person or place. same: mention (each place a new one) | document | corpus.
#   form: how a name stands there (given, family, initials, nick). gender: female | male. plural: two or more people.
#   context: mention | document - the text around decides the kind, where it says anything.
#   use: false - not replaced, counted as unknown; so are rules of a confidence below 0.6 at first.
#   count, documents, examples: what the survey saw. language: that of the tag's words, where the texts are in another. runner_up: what the
#     words mean in another language: "number (fr)". Nothing depends on these.
# unknown: looks like a placeholder, but its words are not known. Move an entry to the rules and give it a kind to have it replaced.
# left_alone: brackets that mean what they say. A tag that you add here is left alone.
# grammars: which built-in forms are looked for (leave the key out for all). unlisted: read - tags in no rule are read by the built-in
#   vocabulary of the languages, of which the first counts most; report - they count as unknown.
"""


class _AsWritten:
    """Annotation that lets pydantic read a dataclass strictly from a file.

    Tuples are lists in the file. Fields with ``compare=False`` are not part of it.
    """

    def __get_pydantic_core_schema__(self, source: type[Any], handler: GetCoreSchemaHandler) -> CoreSchema:
        hints = get_type_hints(source, include_extras=True)
        written: dict[str, Any] = {one.name: _listed(hints[one.name], one.default) for one in fields(source) if one.compare}
        model = create_model(source.__name__, __base__=FileModel, **written)
        return no_info_after_validator_function(lambda read: _made(source, read), handler(model))


def _listed(hint: Any, default: Any) -> tuple[Any, Any]:
    if get_origin(hint) is tuple:
        hint, default = list[get_args(hint)[0]], list(default)  # type: ignore[misc]
    return hint, ... if default is MISSING else default


def _made(source: type[T], read: BaseModel) -> T:
    return source(**{name: tuple(value) if isinstance(value, list) else value for name, value in read})


class _MappingFile(FileModel):
    version: Literal[1] = 1
    languages: list[str] = Field(default_factory=lambda: list(LANGUAGES))
    grammars: list[str] | None = None
    unlisted: Unlisted = "read"
    rules: list[Annotated[Rule, _AsWritten()]] = Field(default=[])
    unknown: list[Annotated[Noted, _AsWritten()]] = Field(default=[])
    left_alone: list[Annotated[Noted, _AsWritten()]] = Field(default=[])


@cache
def kind_names() -> tuple[str, ...]:
    """Return the names of all kinds that a rule may have; cached."""
    return tuple(load_yaml(files("piiloom.surrogates") / "data" / "kinds.yaml", KindsFile).kinds)


def load_mapping(path: Path) -> Mapping:
    """Read a mapping file.

    Raises ``ConfigError`` with file and line for invalid YAML, for unknown keys, kinds, grammars or languages, and for patterns that
    are missing, duplicate or not a valid regular expression.
    """
    document = read_document(path)
    if document.data is None:
        raise ConfigError("is empty", where=path.name, remedy="Write one with piiloom surrogate survey.")
    read = validate_document(document, _MappingFile)
    _check_names(document, "grammars", read.grammars or [], grammars())
    _check_names(document, "languages", read.languages, LANGUAGES)
    _check_rules(document, read.rules)
    return Mapping(
        rules=tuple(replace(rule, line=document.line(("rules", number))) for number, rule in enumerate(read.rules)),
        unknown=tuple(read.unknown),
        left_alone=tuple(read.left_alone),
        grammars=None if read.grammars is None else tuple(read.grammars),
        languages=tuple(read.languages),
        unlisted=read.unlisted,
        file=path.name,
    )


def _check_names(document: YamlDocument, key: str, names: list[str], known: Iterable[str]) -> None:
    allowed = list(known)
    for number, name in enumerate(names):
        if name not in allowed:
            raise ConfigError(f"unknown {key[:-1]} {name!r}", where=document.where((key, number)), remedy=_closest(name, allowed))
    if key == "languages" and not names:
        raise ConfigError("no language is named", where=document.where((key,)), remedy=f"Known: {', '.join(allowed)}.")


def _closest(name: str, known: list[str]) -> str:
    near = get_close_matches(name.casefold(), known, n=1, cutoff=0.5)
    return f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known)}."


def _check_rules(document: YamlDocument, rules: list[Rule]) -> None:
    seen: dict[str, int] = {}
    for number, rule in enumerate(rules):
        where = document.where(("rules", number))
        if bool(rule.tag) == bool(rule.regex):
            raise ConfigError("a rule has either a tag or a regex", where=where, remedy="Give exactly one of the two.")
        if rule.kind not in kind_names():
            place = document.where(("rules", number, "kind"))
            raise ConfigError(f"unknown kind {rule.kind!r}", where=place, remedy=_closest(rule.kind, list(kind_names())))
        if rule.regex:
            _check_regex(rule.regex, document.where(("rules", number, "regex")))
        name = rule.name
        if name in seen:
            raise ConfigError(f"this pattern is given twice, first on line {seen[name]}", where=where, remedy="Keep one of the two rules.")
        seen[name] = document.line(("rules", number))


def _check_regex(pattern: str, where: str) -> None:
    if len(pattern) > _LONGEST_REGEX:
        raise ConfigError(f"a regular expression of more than {_LONGEST_REGEX} characters", where=where, remedy="Split the rule.")
    import regex  # noqa: PLC0415 - few mappings have one, and loading it takes 15 ms

    try:
        compiled = regex.compile(pattern)
    except (regex.error, OverflowError, RecursionError) as error:
        place = getattr(error, "pos", None)
        at = f" at character {place + 1}" if isinstance(place, int) else ""
        message = getattr(error, "msg", "too complex")
        raise ConfigError(
            f"not a regular expression: {message}{at}", where=where, remedy="Correct it; a backslash needs single quotes."
        ) from error
    strange = sorted(set(compiled.groupindex) - _GROUPS)
    if strange:
        raise ConfigError(f"unknown group {strange[0]!r}", where=where, remedy=_closest(strange[0], sorted(_GROUPS)))
    if compiled.fullmatch(""):
        raise ConfigError("the pattern matches the empty text", where=where, remedy="Make it match at least one character.")


def dump_mapping(mapping: Mapping) -> str:
    """Return *mapping* as the text of a file, with a comment that explains the keys. ``load_mapping`` reads it back unchanged."""
    settings: dict[str, Any] = {"version": 1, "languages": list(mapping.languages)}
    if mapping.grammars is not None:
        settings["grammars"] = list(mapping.grammars)
    settings["unlisted"] = mapping.unlisted
    sections = (("rules", mapping.rules), ("unknown", mapping.unknown), ("left_alone", mapping.left_alone))
    body = [_yaml(settings)]
    for name, entries in sections:
        body.append(_yaml({name: [_plain(entry) for entry in entries]}))
    return _HEAD + "\n".join(body)


def _yaml(data: dict[str, Any]) -> str:
    return yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=10_000, default_flow_style=None)


def _plain(entry: Rule | Noted) -> dict[str, Any]:
    """Return the fields that differ from their default, and those in ``_TOLD``, which people are likely to change."""
    return {
        one.name: list(value) if isinstance(value, tuple) else value
        for one in fields(entry)
        if one.compare and ((value := getattr(entry, one.name)) != one.default or one.name in _TOLD)
    }
