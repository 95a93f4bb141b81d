"""docs/schema.md: the tables of a fresh store, with the meanings of ``schema.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from docs.making.markdown import page, table
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.upgrading import MIGRATIONS

MEANINGS = Path(__file__).parent / "schema.yaml"
_COLUMNS = """
    SELECT table_name, column_name, data_type, is_nullable, column_name IN (
        SELECT unnest(constraint_column_names) FROM duckdb_constraints() c
        WHERE c.table_name = duckdb_columns.table_name AND constraint_type = 'PRIMARY KEY')
    FROM duckdb_columns() WHERE NOT internal ORDER BY table_name, column_index"""
_INTRO = """
A store is one DuckDB file. This is schema version {version}. Any DuckDB reads it, as long as no piiloom process writes to it; open it
read-only, since piiloom counts on what it has written. [store.md](store.md) says what the commands do with it.

```sql
SELECT r.question, s.entity_type, s.relevance, substr(r.context, s.span_start + 1, s.span_end - s.span_start) AS text
FROM records r JOIN spans s USING (record_order) WHERE s.entity_type = 'health' ORDER BY record_order, position;
```

Commands bring a store of an older version up to date, and keep a copy of it beside it (`*.bak`). A store of a newer piiloom is refused.
A column may be null where *null* stands.
"""

Tables = dict[str, list[tuple[str, str, bool, bool]]]


def tables_of_a_fresh_store() -> Tables:
    """By table, in file order: name, type, whether it may be null, and whether it is the primary key, of each column."""
    found: Tables = {}
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "fresh.duckdb") as store:
        for name, column, kind, nullable, key in store.rows(_COLUMNS):
            found.setdefault(name, []).append((column, kind, nullable, key))
    return found


def schema_page() -> str:
    """The text of the page. Raises ``ValueError`` for tables or columns without a meaning, and the other way round."""
    tables, groups = tables_of_a_fresh_store(), yaml.safe_load(MEANINGS.read_text(encoding="utf-8"))["groups"]
    check_complete(tables, groups)
    parts = []
    for group in groups:
        parts.append(f"## {group['title']}")
        for name, told in group["tables"].items():
            parts.append(f"### {name}\n\n{told['means']}\n\n{_columns(tables[name], told['columns'])}")
    versions = table(("version", "what it added"), ((str(step.version), step.summary) for step in MIGRATIONS.steps))
    return page("The store's tables", _INTRO.format(version=MIGRATIONS.latest), *parts, f"## Versions\n\n{versions}")


def check_complete(tables: Tables, groups: list[dict[str, Any]]) -> None:
    """Raise ``ValueError`` naming what *tables* have and *groups* do not explain, or explain and *tables* do not have."""
    there = {f"{name}.{column[0]}" for name, columns in tables.items() for column in columns}
    told = {f"{name}.{column}" for group in groups for name, about in group["tables"].items() for column in about["columns"]}
    if there != told:
        raise ValueError(f"{MEANINGS.name} lacks {sorted(there - told)}; no such columns: {sorted(told - there)}")


def _columns(columns: list[tuple[str, str, bool, bool]], meanings: Mapping[str, str]) -> str:
    rows = []
    for name, kind, nullable, key in columns:
        notes = "primary key" if key else "null" if nullable else ""
        rows.append((f"`{name}`", kind.lower(), notes, meanings[name]))
    return table(("column", "type", "key, null", "meaning"), rows)
