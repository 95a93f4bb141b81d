"""The settings of an annotation project: names and JSON values. The annotation app defines their meaning."""

from __future__ import annotations

import json
from typing import Any

from piiloom.corpus.store.database import Store


def read_settings(store: Store) -> dict[str, Any]:
    """Return the settings that were ever changed; all others have their default value."""
    return {name: json.loads(value) for name, value in store.rows("SELECT name, value FROM annotation_settings ORDER BY name")}


def put_setting(store: Store, name: str, value: Any) -> None:
    """Set *name* to *value* (a JSON value)."""
    with store.writing():
        store.change("DELETE FROM annotation_settings WHERE name = ?", [name])
        store.append("annotation_settings", ("name", "value"), [(name, json.dumps(value, ensure_ascii=False, sort_keys=True))])
