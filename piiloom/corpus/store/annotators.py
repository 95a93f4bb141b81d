"""The table of annotators. ``piiloom.annotation_app.people`` defines what a row means and which changes are allowed."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, fields

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import select


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorRow:
    """One person. ``password_hash`` is None for a person without a password here, and never appears in ``repr``."""

    name: str
    display: str
    role: str
    password_hash: str | None = field(default=None, repr=False)
    oidc: str | None = None
    active: bool = True
    made_at: str


_COLUMNS = tuple(column.name for column in fields(AnnotatorRow))


def add_annotator(store: Store, row: AnnotatorRow) -> None:
    """Add a person. The caller ensures that the name is free."""
    store.append("annotators", _COLUMNS, [astuple(row)])


def change_annotator(store: Store, row: AnnotatorRow) -> None:
    """Update the row of the person ``row.name``, except ``made_at``."""
    store.change(
        "UPDATE annotators SET display = ?, role = ?, password_hash = ?, oidc = ?, active = ? WHERE name = ?",
        [row.display, row.role, row.password_hash, row.oidc, row.active, row.name],
    )


def find_annotator(store: Store, name: str) -> AnnotatorRow | None:
    """Return the person with exactly this name, or None."""
    found = store.rows(select(_COLUMNS, "annotators", "WHERE name = ?"), [name])
    return AnnotatorRow(**dict(zip(_COLUMNS, found[0], strict=True))) if found else None


def list_annotators(store: Store) -> list[AnnotatorRow]:
    """Return all people, including inactive ones, in the order they were added."""
    rows = store.rows(select(_COLUMNS, "annotators", "ORDER BY made_at, name"))
    return [AnnotatorRow(**dict(zip(_COLUMNS, row, strict=True))) for row in rows]
