"""The one workplace of this process, where the pages find it.

A module global, since Streamlit's own ``cache_resource`` belongs to one script, and pages, routes and callbacks all need it.
"""

from __future__ import annotations

from typing import Any

_held: list[Any] = []


def set_workplace(workplace: Any) -> None:
    """Make *workplace* the one of this process; None takes it away."""
    _held[:] = [] if workplace is None else [workplace]


def get_workplace() -> Any:
    """The workplace of this process; ``RuntimeError`` before there is one."""
    if not _held:
        raise RuntimeError("no workplace is open in this process")
    return _held[0]
