"""Settings made of what a command was given."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")


def settings_of(kind: type[S], asked: object, **more: object) -> S:
    """Make the dataclass *kind* of the fields of *asked* that are called as its own, and *more*."""
    names = [one.name for one in fields(kind) if one.name not in more and hasattr(asked, one.name)]
    return kind(**{name: getattr(asked, name) for name in names}, **more)
