"""The mapping from the tags of a corpus to kinds: its rules, its YAML file that people edit, and warnings about it.

Letters in brackets are used together or not at all: where "[Y]" is a placeholder, "[X]" in the same corpus is one as well.

Warnings: no placeholder is known, one kind outnumbers all others, or the texts are in another language. Errors in the file name the line.
"""

from __future__ import annotations

import re
from collections import Counter, abc, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

import yaml
from pydantic import BaseModel, Field, GetCoreSchemaHandler, create_model
from pydantic_core.core_schema import CoreSchema, no_info_after_validator_function

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import FileModel, YamlDocument, read_document, validate_document
from piiloom.pii_values.names.regions import Gender
from piiloom.surrogates.documents import Same
from piiloom.surrogates.kinds.kind import KINDS
from piiloom.surrogates.placeholders.grammar import grammars
from piiloom.surrogates.placeholders.vocabulary import LANGUAGES

USE_FROM: Final = 0.6  # rules learned with less confidence are written with ``use: false``
Context = Literal["", "mention", "document"]
Unlisted = Literal["read", "report"]
# Constraints for the file, whose schema is built from the annotations of ``TagRule`` and ``Noted``.
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRule:
    """One pattern (exactly one of ``tag`` and ``regex``) and the meaning of what it matches.

    In a ``tag``, ``{index}`` and ``{number}`` match what numbers the tag, ``{original}`` a value that it contains, ``{date}`` and
    ``{year}`` a date, ``{digits}`` what a mask leaves; of "Dr. {letter}" only the letter is replaced. ``index`` is a fixed index for
    a tag without a token ("[Z]"). With ``context`` the surrounding text decides the kind, for each mention or once per document, and
    ``kind`` is the fallback. ``language`` is that of the tag's words where the texts are in another, ``runner_up`` how another
    language reads them ("number (fr)"); both only inform. ``line`` is the line in the file (0 if there is none), for error messages.
    """

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
    confidence: Share = 1.0
    language: str = ""
    runner_up: str = ""
    count: Count = 0
    documents: Count = 0
    examples: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def name(self) -> str:
        """The pattern, which identifies the rule."""
        return self.tag or self.regex


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A tag without a rule: unknown, or left alone as ordinary text."""

    tag: str
    count: Count = 0
    documents: Count = 0
    why: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """All rules and settings of a corpus.

    ``grammars`` names the built-in forms to look for (None: all), ``languages`` the vocabularies to use, the most trusted first.
    ``unlisted`` says what happens to a tag without a rule: "read" interprets it by the vocabulary, "report" counts it as unknown.
    ``cautions`` are what the user should hear about a mapping that was learned; they are not written to the file.
    """

    rules: tuple[TagRule, ...] = ()
    unknown: tuple[Noted, ...] = ()
    left_alone: tuple[Noted, ...] = ()
    grammars: tuple[str, ...] | None = None
    languages: tuple[str, ...] = LANGUAGES
    unlisted: Unlisted = "read"
    file: str = field(default="", compare=False)
    cautions: tuple[str, ...] = field(default=(), compare=False)


_ONE: Final = re.compile(r"(?<![A-Za-z])[A-Z](?![A-Za-z])")


def whole_families(rules: Sequence[TagRule]) -> list[TagRule]:
    """Return *rules* with those of single letters in the same signs all used, or all unused.

    They are used if the rules that are sure by themselves have a fifth of the places. The kind stays that of each letter.
    """
    places: Counter[str] = Counter()
    sure: Counter[str] = Counter()
    for rule in rules:
        if rule.role == "letter" and _ONE.search(rule.tag):
            places[_ONE.sub("{letter}", rule.tag)] += rule.count
            sure[_ONE.sub("{letter}", rule.tag)] += rule.count * rule.use
    found = []
    for rule in rules:
        name = _ONE.sub("{letter}", rule.tag)
        if rule.role == "letter" and name in places:
            use = sure[name] >= 0.2 * places[name]
            confidence = max(rule.confidence, USE_FROM) if use else min(rule.confidence, USE_FROM - 0.01)
            rule = replace(rule, use=use, confidence=confidence)  # noqa: PLW2901
        found.append(rule)
    return found


NO_RULE: Final = "no placeholder of a known meaning was found: nothing is replaced"
_SHOWN: Final = 3
_LANGUAGES: Final = {
    "en": "English", "nl": "Dutch", "pt": "Portuguese", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "sv": "Swedish",
    "no": "Norwegian", "da": "Danish", "fi": "Finnish", "pl": "Polish",
}  # fmt: skip


def kind_caution(counts: abc.Mapping[str, int], rules: Iterable[TagRule] = ()) -> str:
    """Return a warning if one kind has more than half of the surrogates that *counts* has by kind, else "".

    Names that the *rules* are sure of are no cause for one.
    """
    total = sum(counts.values())
    kind = max(counts, key=lambda name: (counts[name], name), default="")
    if total < 20 or 2 * counts[kind] <= total:
        return ""
    tags = sorted((rule for rule in rules if rule.kind == kind and rule.use), key=lambda rule: -rule.count)
    # Names are most of many corpora; they are suspicious only where their tags are less sure.
    if kind == "person" and all(rule.confidence >= 0.8 for rule in tags[:_SHOWN]):
        return ""
    language_name = ", ".join(f"{rule.name} {rule.count:,}" for rule in tags[:_SHOWN])
    others = f" (read from {language_name})" if language_name else ""
    return f"{counts[kind]:,} of {total:,} surrogates are of the kind {kind}{others}: if that is not what stood there, correct the mapping"


def surrogate_cautions(counts: abc.Mapping[str, int], mapping: Mapping) -> tuple[str, ...]:
    """Return what the user should hear about the surrogates that *counts* has by kind, and about the *mapping* that they come from."""
    if not any(counts.values()):
        tags = ", ".join(one.tag for one in mapping.unknown[:_SHOWN])
        first = f"{NO_RULE}; of an unknown meaning: {tags}" if tags else NO_RULE
    else:
        first = kind_caution(counts, mapping.rules)
    return tuple(filter(None, (first, *mapping.cautions)))


def survey_cautions(mapping: Mapping) -> tuple[str, ...]:
    """Return what the user should hear about a *mapping* that was learned, before it is used."""
    counts: Counter[str] = Counter()
    for rule in mapping.rules:
        counts[rule.kind] += rule.count * rule.use
    return surrogate_cautions(counts, mapping)


def foreign_cautions(rules: Iterable[TagRule]) -> tuple[str, ...]:
    """Return warnings of the *rules* that are not used as no other tag supports their language."""
    foreign: defaultdict[str, list[TagRule]] = defaultdict(list)
    for rule in rules:
        if rule.language and not rule.use:
            foreign[rule.language].append(rule)
    return tuple(
        f"{sum(rule.count for rule in unused):,} places have tags that only {_LANGUAGES.get(language, language)} knows, "
        f"which the texts are not in; not replaced: {', '.join(f'{rule.name} = {rule.kind}' for rule in unused[:_SHOWN])}"
        for language, unused in foreign.items()
    )


def language_caution(locale: str, told: str) -> str:
    """Return a warning if the texts are told to be in another language than *locale* says, else ""."""
    if not told or told == locale.partition("_")[0]:
        return ""
    name = _LANGUAGES.get(told, told)
    return f"the texts read as {name}, the locale is {locale}: values come in its language; name the texts' own with --locale"


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
    rules: list[Annotated[TagRule, _AsWritten()]] = Field(default=[])
    unknown: list[Annotated[Noted, _AsWritten()]] = Field(default=[])
    left_alone: list[Annotated[Noted, _AsWritten()]] = Field(default=[])


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


def _check_rules(document: YamlDocument, rules: list[TagRule]) -> None:
    seen: dict[str, int] = {}
    for number, rule in enumerate(rules):
        where = document.where(("rules", number))
        if bool(rule.tag) == bool(rule.regex):
            raise ConfigError("a rule has either a tag or a regex", where=where, remedy="Give exactly one of the two.")
        if rule.kind not in tuple(KINDS):
            place = document.where(("rules", number, "kind"))
            raise ConfigError(f"unknown kind {rule.kind!r}", where=place, remedy=_closest(rule.kind, list(KINDS)))
        if rule.regex:
            _check_regex(rule.regex, document.where(("rules", number, "regex")))
        if rule.name in seen:
            line = seen[rule.name]
            raise ConfigError(f"this pattern is given twice, first on line {line}", where=where, remedy="Keep one of the two rules.")
        seen[rule.name] = document.line(("rules", number))


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
    parts = [settings, *({name: [_plain(entry) for entry in entries]} for name, entries in sections)]
    body = (yaml.safe_dump(part, allow_unicode=True, sort_keys=False, width=10_000, default_flow_style=None) for part in parts)
    return _HEAD + "\n".join(body)


def _plain(entry: TagRule | Noted) -> dict[str, Any]:
    """Return the fields that differ from their default, and those in ``_TOLD``, which people are likely to change."""
    return {
        one.name: list(value) if isinstance(value, tuple) else value
        for one in fields(entry)
        if one.compare and ((value := getattr(entry, one.name)) != one.default or one.name in _TOLD)
    }
