"""The callback that does nothing: the default wherever a caller may, but need not, listen."""

from __future__ import annotations


def noop(*_args: object) -> None:
    """Ignore all arguments. Whoever would have to prepare them may skip that: ``if sink is not noop``."""
