"""The store: one DuckDB file that holds runs, paid replies, stage results, records, rejects and releases.

``database.Store`` opens the file. Each other module holds the queries for one topic; its functions take the store as their
first argument. No code outside this package writes SQL.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from piiloom.foundation.settings import AnyPath, Settings, setting

DEFAULT_STORE: Final = Path("outputs/piiloom.duckdb")


def store_setting(default: Path = DEFAULT_STORE) -> Any:
    """Declare the setting of a store."""
    return setting(default, "The DuckDB file of the workspace.", metavar="FILE")


class StoreSettings(Settings):
    """The store that a command or a function reads or changes."""

    store: AnyPath = store_setting()
