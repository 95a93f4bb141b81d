"""Turn pydantic's validation errors into our own messages: the key, what it must be, and which name was probably meant.

Messages never quote a value, which may be corpus text or an API key. They do quote the names of unknown keys, since those are
what is wrong.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ValidationError

from piiloom.foundation.words import counted

KeyPath = Sequence[str | int]

_LONGEST_NAME: Final = 40
_LISTED: Final = 30
_KEY: Final = "[key]"  # path step that pydantic adds for an invalid key of a mapping

_NUMBER: Final = "must be a number"
_WHOLE: Final = "must be a whole number"
_TEXT: Final = "must be text"
_LIST: Final = "must be a list"
_KEYS: Final = "must have keys and values"
_TRUTH: Final = "must be true or false"
_DATE: Final = "must be a date, as 2026-01-31"

_WORDS: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "none_required": "must be left out",
    "recursion_loop": "refers to itself",
    "recursion_error": "is nested too deeply",
    "finite_number": "must be a finite number",
    "decimal_parsing": _NUMBER,
    "decimal_type": _NUMBER,
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), _WHOLE),
    "int_parsing_size": "has too many digits",
    **dict.fromkeys(("float_type", "float_parsing"), _NUMBER),
    **dict.fromkeys(("bool_type", "bool_parsing"), _TRUTH),
    **dict.fromkeys(("string_type", "string_sub_type", "bytes_type", "path_type"), _TEXT),
    "string_unicode": "must be valid text",
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type"), _LIST),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type"), _KEYS),
    **dict.fromkeys(("date_type", "date_parsing", "date_from_datetime_parsing", "date_from_datetime_inexact"), _DATE),
    "url_parsing": "must be a URL",
    "json_invalid": "is not valid JSON",
    "json_type": "must be JSON",
}

_WITH_LIMITS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "greater_than": lambda told: f"must be more than {told['gt']}",
    "greater_than_equal": lambda told: f"must be at least {told['ge']}",
    "less_than": lambda told: f"must be less than {told['lt']}",
    "less_than_equal": lambda told: f"must be at most {told['le']}",
    "multiple_of": lambda told: f"must be a multiple of {told['multiple_of']}",
    "string_too_short": lambda told: _at_least(told["min_length"], "character"),
    "string_too_long": lambda told: _at_most(told["max_length"], "character"),
    "too_short": lambda told: _at_least(told["min_length"], "entry"),
    "too_long": lambda told: _at_most(told["max_length"], "entry"),
    "string_pattern_mismatch": lambda told: f"must have the form {told['pattern']}",
    **dict.fromkeys(("literal_error", "enum"), lambda told: f"must be {told['expected']}"),
    **dict.fromkeys(("value_error", "assertion_error"), lambda told: str(told["error"])),  # raised by our own validators of the model
}


class SchemaFault(NamedTuple):
    """One fault: its path in the data (without steps that pydantic adds), and the message without the name of the place."""

    path: KeyPath
    message: str
    hint: str = ""  # for an unknown key only; the message then names the key itself

    def said(self, root: str, *, line: int | None = None) -> str:
        """Return the fault with its place: ``scenarios[3].question.draft (line 7): is missing``.

        *root* names the place if the fault concerns the whole document.
        """
        at = "" if line is None else f" (line {line})"
        if not self.hint:
            return f"{key_name(self.path) or root}{at}: {self.message}"
        place = key_name(self.path[:-1])
        return f"{f'{place}: ' if place else ''}{self.message}{at}; {self.hint}"


def key_name(path: KeyPath) -> str:
    """Format *path* for people: ``scenarios[3].question.draft``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def schema_faults(error: ValidationError, model: type[BaseModel], *, noun: str = "key") -> list[SchemaFault]:
    """Return the faults in *error*, each once, in order. *noun* is what a key is called in messages: key, setting, field."""
    found: dict[SchemaFault, None] = {}
    for fault in error.errors(include_url=False, include_input=False):
        kind, told = fault["type"], fault.get("ctx", {})
        path, known = _walked(model, [step for step in fault["loc"] if step != _KEY])
        if kind == "extra_forbidden":
            found[SchemaFault(path, *unknown(str(fault["loc"][-1]), known, noun))] = None
        else:
            said = plain_words(kind, told)
            found[SchemaFault(path, f"the {noun} {said}" if _KEY in fault["loc"] else said)] = None
    return list(found)


def plain_words(kind: str, told: Mapping[str, Any]) -> str:
    """Return what is wrong with a value, given pydantic's error type *kind* and its context *told* (``ctx``)."""
    return _WORDS.get(kind) or (_WITH_LIMITS[kind](told) if kind in _WITH_LIMITS else "has a value that cannot be used here")


def unknown(name: str, known: Iterable[str], noun: str) -> tuple[str, str]:
    """Return what is wrong with the *name* of a *noun* that is not among the *known* ones, and a hint."""
    names = sorted(known)
    shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    near = get_close_matches(name.casefold(), names, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(names[:_LISTED])}" if names else f"no {noun} is known there"
    return f"unknown {noun} {shown!r}", hint


def _at_least(number: int, of: str) -> str:
    return "must not be empty" if number == 1 else f"must have at least {counted(number, of)}"


def _at_most(number: int, of: str) -> str:
    return f"must have at most {counted(number, of)}"


def _walked(model: type[BaseModel], steps: Sequence[str | int]) -> tuple[KeyPath, set[str]]:
    """Follow *steps* through the types of *model*. Return the steps that exist in the data, and the keys known beside the last one.

    Other steps are names of union members, which pydantic adds to the location of an error.
    """
    path: list[str | int] = []
    here: list[Any] = [model]
    known: set[str] = set()
    for number, step in enumerate(steps):
        known = {name for one in here for name in _fields(one)}
        below = [found for one in here for found in _below(one, step)]
        if below or (number == len(steps) - 1 and (isinstance(step, int) or not _is_member(here, step))):
            path.append(step)
            here = [leaf for one in below for leaf in _leaves(one)]
    return tuple(path), known


def _is_member(here: Iterable[Any], step: str) -> bool:
    """Whether *step* names one of the possible types *here* (a union member), and not a key."""
    return any(step in {getattr(one, "__name__", ""), str(one)} or step.startswith(("function-", "constrained-")) for one in here)


def _below(one: Any, step: str | int) -> list[Any]:
    if isinstance(step, str) and step in (found := _fields(one)):
        return [found[step]]
    origin, inner = get_origin(one), get_args(one)
    if isinstance(step, int) and inner and origin is not None and _is_a(origin, Sequence | set | frozenset):
        return [inner[0] if Ellipsis in inner or len(inner) <= step else inner[step]]
    return [inner[1]] if inner and origin is not None and _is_a(origin, Mapping) else []


def _is_a(origin: Any, what: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, what)


def _leaves(hint: Any) -> list[Any]:
    """Return the types that *hint* allows, with unions and ``Annotated`` resolved."""
    if get_origin(hint) is Annotated:
        return _leaves(get_args(hint)[0])
    if get_origin(hint) in {Union, types.UnionType}:
        return [leaf for one in get_args(hint) for leaf in _leaves(one)]
    return [getattr(hint, "__value__", hint)]


def _fields(one: Any) -> dict[str, Any]:
    """Return the keys that the data of a model or dataclass may have, with their types; {} for other types."""
    if isinstance(one, type) and issubclass(one, BaseModel):
        return {field.alias or name: field.annotation for name, field in one.model_fields.items()}
    if isinstance(one, type) and is_dataclass(one):
        hints = get_type_hints(one)
        return {field.name: hints[field.name] for field in fields(one) if field.compare}
    return {}
