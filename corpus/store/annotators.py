"""The rows of the people who annotate. What a row means, and which change is allowed, is for ``piiloom.annotation_app.people``."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, fields

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.statements import select


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorRow:
    """One person. ``password_hash`` is None for who has no password here; it never shows in a ``repr``."""

    name: str
    display: str
    role: str
    password_hash: str | None = field(default=None, repr=False)
    oidc: str | None = None
    active: bool = True
    made_at: str


_COLUMNS = tuple(column.name for column in fields(AnnotatorRow))


def add_annotator(store: Store, row: AnnotatorRow) -> None:
    """Add a person; that the name is free is the caller's care."""
    store.append("annotators", _COLUMNS, [astuple(row)])


def change_annotator(store: Store, row: AnnotatorRow) -> None:
    """Write the row of the person ``row.name`` anew."""
    store.change(
        "UPDATE annotators SET display = ?, role = ?, password_hash = ?, oidc = ?, active = ? WHERE name = ?",
        [row.display, row.role, row.password_hash, row.oidc, row.active, row.name],
    )


def find_annotator(store: Store, name: str) -> AnnotatorRow | None:
    """The person of exactly this name."""
    found = store.rows(select(_COLUMNS, "annotators", "WHERE name = ?"), [name])
    return AnnotatorRow(**dict(zip(_COLUMNS, found[0], strict=True))) if found else None


def list_annotators(store: Store) -> list[AnnotatorRow]:
    """All people, those who have left included, in the order in which they came."""
    rows = store.rows(select(_COLUMNS, "annotators", "ORDER BY made_at, name"))
    return [AnnotatorRow(**dict(zip(_COLUMNS, row, strict=True))) for row in rows]
