"""The groups of the text that is under way, for detectors that show a model examples: none may be of the text's own group."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_known: ContextVar[tuple[str, ...]] = ContextVar("groups_of_text", default=())


def groups_of_text() -> tuple[str, ...]:
    """Return the group keys (``Record.group_keys``) of the text under way, as far as they are known."""
    return _known.get()


@contextmanager
def text_of_groups(keys: tuple[str, ...]) -> Iterator[None]:
    """Say that the text under way, inside the block and in tasks that it starts, has the group keys *keys*."""
    token = _known.set(keys)
    try:
        yield
    finally:
        _known.reset(token)
