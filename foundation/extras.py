"""Libraries that only an extra brings: what to type when one is missing."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """The command that brings the extra *extra*. piiloom is on no package index, so it is installed from a clone."""
    return f"pip install -e '.[{extra}]' in a clone of piiloom"
