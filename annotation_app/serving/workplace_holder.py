"""Process-wide holder of the one open workplace, for the pages.

It is a module global, since pages, routes and callbacks all need it and Streamlit's ``cache_resource`` belongs to one script.
"""

from __future__ import annotations

from typing import Any

_held: list[Any] = []


def set_workplace(workplace: Any) -> None:
    """Set the workplace of this process; None removes it."""
    _held[:] = [] if workplace is None else [workplace]


def get_workplace() -> Any:
    """Return the workplace of this process. Raises ``RuntimeError`` if there is none."""
    if not _held:
        raise RuntimeError("no workplace is open in this process")
    return _held[0]
