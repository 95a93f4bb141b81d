"""Keywords of a Python function, held to what the options of its command allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar, get_type_hints

from pydantic import ConfigDict, ValidationError, create_model

from piiloom.foundation.errors import UsageError
from piiloom.foundation.schema_faults import unknown

P = ParamSpec("P")
ReturnT = TypeVar("ReturnT")


def known_keywords(options: type | None = None) -> Callable[[Callable[P, ReturnT]], Callable[P, ReturnT]]:
    """Decorate a function, so that it raises ``UsageError`` for a keyword that neither it nor the typed dictionary *options* has."""

    def decorated(function: Callable[P, ReturnT]) -> Callable[P, ReturnT]:
        own = {name for name, one in signature(function).parameters.items() if one.kind is not one.VAR_KEYWORD}

        @wraps(function)
        def checked(*args: P.args, **keywords: P.kwargs) -> ReturnT:
            known = own | (get_type_hints(options).keys() if options else set())
            for name in keywords.keys() - known:
                raise UsageError("; ".join(unknown(name, known, "keyword")), remedy=f"See help(piiloom.{function.__name__})")
            return function(*args, **keywords)

        return checked

    return decorated


def checked_keywords(keywords: type, groups: Sequence[Any], given: Mapping[str, Any], *, command: str) -> dict[str, Any]:
    """Return *given* and, for the other keys of the typed dictionary *keywords*, the defaults of the dataclasses of options *groups*.

    Raises ``UsageError`` for a keyword that there is not, or a value of another type or range than the option's.
    """
    hints = get_type_hints(keywords)
    known = {field.name: field for group in groups for field in fields(group)}
    shape: dict[str, Any] = {name: (hint, known[name].default) for name, hint in hints.items()}
    checked = create_model("Keywords", __config__=ConfigDict(extra="forbid"), **shape)
    try:
        values = {name: value for name, value in checked(**given) if name in hints}
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{key}: {first['msg']}", remedy=f"See {command} --help") from None
    for group in groups:
        _check_ranges(group, values)
    return values


def _check_ranges(group: Any, values: Mapping[str, Any]) -> None:
    """Hold numbers to the ranges that the command's options declare."""
    for name, annotation in get_type_hints(group, include_extras=True).items():
        option = next(iter(getattr(annotation, "__metadata__", ())), None)
        low, high, value = getattr(option, "min", None), getattr(option, "max", None), values.get(name)
        if value is None or (low is None and high is None):
            continue
        if (low is not None and not value >= low) or (high is not None and not value <= high):
            bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
            raise UsageError(f"{name}: {value} is out of range", remedy=f"Give a number {bounds}")
