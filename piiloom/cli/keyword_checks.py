"""Keywords of a Python function, held to what the options of its command allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_type_hints

from pydantic import ConfigDict, ValidationError, create_model

from piiloom.foundation.errors import UsageError


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
