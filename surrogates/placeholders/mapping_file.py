"""The mapping as a file that people edit: reading it with errors that name the line, and writing it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

import regex
import yaml
from pydantic import BaseModel, ConfigDict, Field

from foundation.errors import ConfigError
from foundation.yaml_files import YamlDocument, load_yaml, read_document, validate_document
from surrogates.kinds.files import KindsFile
from surrogates.mentions import Gender, Same
from surrogates.placeholders.grammar_files import grammars
from surrogates.placeholders.mapping import Context, Mapping, Noted, Rule, Unlisted
from surrogates.placeholders.vocabulary_files import LANGUAGES

_LONGEST_REGEX: Final = 2_000
_GROUPS: Final = frozenset({"index", "number", "original", "role", "letter"})

_HEAD: Final = """\
# What the placeholders of a corpus mean. Written by `piiloom surrogate survey`; edit it and give it to
# `piiloom surrogate run --placeholders FILE`.
#
# rules: one for each pattern. The pattern is either
#     tag: the placeholder as it stands in the text. {index} stands for a number or letter that tells several apart, {number} for a
#          second one, {original} for a value that the placeholder bears, {date} for a date; of "Dr. {letter}" only the letter is replaced.
#     regex: a regular expression; its groups index, number, original, role and letter (replace only this) are used. One that takes
#          more than a second on a document (and one more for each million characters) stops the run.
#   kind: what is put there (person, city, date ...). role and index tell whom or what it belongs to: equal role and index are one
#     person or place. same: mention (each place a new one) | document | corpus.
#   form: how a name stands there (given, family, initials, nick). gender: female | male. plural: two or more people.
#   context: mention | document - the text around decides the kind, where it says anything.
#   use: false - not replaced, counted as unknown; so are rules of a confidence below 0.6 at first.
#   count, documents, examples: what the survey saw; nothing depends on them.
# unknown: looks like a placeholder, but its words are not known. Move an entry to the rules and give it a kind to have it replaced.
# left_alone: brackets that mean what they say. A tag that you add here is left alone.
# grammars: which built-in forms are looked for (leave the key out for all). unlisted: read - tags in no rule are read by the built-in
#   vocabulary of the languages; report - they count as unknown.
"""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _RuleEntry(_Entry):
    tag: str = ""
    regex: str = ""
    kind: str
    role: str = ""
    index: str = ""
    same: Same = "document"
    form: str = ""
    gender: Gender | None = None
    plural: bool = False
    context: Context = ""
    use: bool = True
    confidence: float = Field(default=1.0, ge=0, le=1)
    count: int = Field(default=0, ge=0)
    documents: int = Field(default=0, ge=0)
    examples: list[str] = []


class _NotedEntry(_Entry):
    tag: str
    count: int = Field(default=0, ge=0)
    documents: int = Field(default=0, ge=0)
    why: str = ""
    examples: list[str] = []


class _MappingFile(_Entry):
    version: Literal[1] = 1
    languages: list[str] = list(LANGUAGES)
    grammars: list[str] | None = None
    unlisted: Unlisted = "read"
    rules: list[_RuleEntry] = []
    unknown: list[_NotedEntry] = []
    left_alone: list[_NotedEntry] = []


@cache
def kind_names() -> tuple[str, ...]:
    """The kinds that a rule may name."""
    return tuple(load_yaml(files("surrogates") / "data" / "kinds.yaml", KindsFile).kinds)


def load_mapping(path: Path) -> Mapping:
    """Read a mapping file.

    Raises ``ConfigError`` with file and line for what is no YAML, unknown keys, kinds, grammars and languages, patterns that are no regular
    expression, are given twice or not at all.
    """
    document = read_document(path)
    if document.data is None:
        raise ConfigError("is empty", where=path.name, remedy="Write one with piiloom surrogate survey.")
    read = validate_document(document, _MappingFile)
    _check_names(document, "grammars", read.grammars or [], grammars())
    _check_names(document, "languages", read.languages, LANGUAGES)
    _check_rules(document, read.rules)
    rules = tuple(
        Rule(**{**entry.model_dump(), "examples": tuple(entry.examples)}, line=document.line(("rules", number)))
        for number, entry in enumerate(read.rules)
    )
    return Mapping(
        rules=rules,
        unknown=_noted(read.unknown),
        left_alone=_noted(read.left_alone),
        grammars=None if read.grammars is None else tuple(read.grammars),
        languages=tuple(read.languages),
        unlisted=read.unlisted,
        file=path.name,
    )


def _noted(entries: list[_NotedEntry]) -> tuple[Noted, ...]:
    return tuple(Noted(**{**entry.model_dump(), "examples": tuple(entry.examples)}) for entry in entries)


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


def _check_rules(document: YamlDocument, entries: list[_RuleEntry]) -> None:
    seen: dict[str, int] = {}
    for number, entry in enumerate(entries):
        where = document.where(("rules", number))
        if bool(entry.tag) == bool(entry.regex):
            raise ConfigError("a rule has either a tag or a regex", where=where, remedy="Give exactly one of the two.")
        if entry.kind not in kind_names():
            place = document.where(("rules", number, "kind"))
            raise ConfigError(f"unknown kind {entry.kind!r}", where=place, remedy=_closest(entry.kind, list(kind_names())))
        if entry.regex:
            _check_regex(entry.regex, document.where(("rules", number, "regex")))
        name = entry.tag or entry.regex
        if name in seen:
            raise ConfigError(f"this pattern is given twice, first on line {seen[name]}", where=where, remedy="Keep one of the two rules.")
        seen[name] = document.line(("rules", number))


def _check_regex(pattern: str, where: str) -> None:
    if len(pattern) > _LONGEST_REGEX:
        raise ConfigError(f"a regular expression of more than {_LONGEST_REGEX} characters", where=where, remedy="Split the rule.")
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
        raise ConfigError("the pattern fits the empty text", where=where, remedy="Make it ask for at least one character.")


def dump_mapping(mapping: Mapping) -> str:
    """*mapping* as the text of a file; ``load_mapping`` gives an equal one back."""
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


_DEFAULTS: Final[dict[str, Any]] = {
    "tag": "", "regex": "", "role": "", "index": "", "form": "", "gender": None, "plural": False, "context": "", "count": 0,
    "documents": 0, "why": "", "examples": (), "file": "",
}  # fmt: skip


def _plain(entry: Rule | Noted) -> dict[str, Any]:
    """The fields that say something."""
    names = [name for name in entry.__slots__ if name != "line"]
    values = {name: getattr(entry, name) for name in names}
    needed = {"tag"} if isinstance(entry, Noted) else set()
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if name in needed or _DEFAULTS.get(name, ...) != value
    }
