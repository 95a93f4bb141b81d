"""Settings made of what a command was given."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

S = TypeVar("S")


def settings_of(kind: type[S], asked: object, **more: object) -> S:
    """Make *kind*, a dataclass or a model of settings, of the fields of *asked* that are called as its own, and *more*."""
    model: Any = kind
    own = [one.name for one in fields(model)] if is_dataclass(kind) else model.model_fields
    names = [name for name in own if name not in more and hasattr(asked, name)]
    return kind(**{name: getattr(asked, name) for name in names}, **more)
