"""Optional dependencies (extras): how to install a missing one."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """Return the command that installs *extra*. piiloom is on no package index, so it is installed from a clone."""
    return f"pip install -e '.[{extra}]' in a clone of piiloom"
