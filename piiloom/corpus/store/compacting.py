"""Shrink a store's file. DuckDB reuses the space of deleted rows but never returns it to the file system.

The store is copied into a new file. If all tables of the copy are equal to the original's, the copy replaces the old file.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from piiloom.corpus.store.copying import identifier, locked, log_of, opened_meanwhile, remove, sync, text_literal
from piiloom.corpus.store.database import Store
from piiloom.foundation.errors import OutputError, StoreError

_COPY = "piiloom_compact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """The file's size in bytes before and after, and how many rows were copied."""

    before: int
    after: int
    rows: int


def compact(path: Path) -> Compacted:
    """Rewrite the store at *path* without free space. On any error the store is unchanged and no temporary file remains.

    Raises what ``Store.open`` does, ``OutputError`` (no room for the copy, read-only folder), and ``StoreError`` if the
    copy differs from the store, and ``StoreLocked`` if another process has opened the store meanwhile.
    """
    target = path.resolve()  # replace the file that a symbolic link points to, not the link
    partial = target.with_name(f"{target.name}.vacuum.part")
    try:
        with Store.open(path, create=False) as store:
            remove(partial)
            store.change("CHECKPOINT")
            rows = _copy(store, partial)
            known = _state(target)  # the log is checkpointed already, so closing changes nothing
        with locked(target, path):
            if _state(target) != known or log_of(target).exists():
                raise opened_meanwhile(path)
            partial.chmod(target.stat().st_mode & 0o777)
            sync(partial)
            after = partial.stat().st_size
            partial.replace(target)
            sync(target.parent)
    except OSError as error:
        raise OutputError(
            f"the compacted store cannot be written ({error.strerror})",
            where=str(path),
            remedy="Nothing was changed. Free disk space in its folder and try again",
        ) from error
    finally:
        with suppress(OSError):
            remove(partial)
    return Compacted(before=known[0], after=after, rows=rows)


def _copy(store: Store, partial: Path) -> int:
    """Copy everything into a new file at *partial* and return the number of rows. Raises ``StoreError`` if a table differs."""
    source = store.rows("SELECT current_database()")[0][0]
    store.change(f"ATTACH {text_literal(str(partial))} AS {_COPY}")
    try:
        store.change(f"COPY FROM DATABASE {identifier(source)} TO {_COPY}")
        tables = [name for (name,) in store.rows("SELECT table_name FROM duckdb_tables() WHERE database_name = ?", [source])]
        sums = [(_sum(store, source, name), _sum(store, _COPY, name)) for name in tables]
        store.change(f"CHECKPOINT {_COPY}")
    finally:
        store.change(f"DETACH {_COPY}")
    if any(before != after for before, after in sums) or len(sums) == 0:
        raise StoreError("the copy differs from the store", where=str(store.path), remedy="Nothing was changed. Try again, on another disk")
    return sum(rows for (rows, _), _ in sums)


def _sum(store: Store, database: str, table: str) -> tuple[int, int | None]:
    """Return the number of rows of a table and the sum of their hashes, which does not depend on row order."""
    name = f"{identifier(database)}.main.{identifier(table)}"
    rows, hashes = store.rows(f"SELECT count(*), sum(hash(t)::HUGEINT) FROM {name} AS t")[0]  # noqa: S608 - quoted names
    return int(rows), None if hashes is None else int(hashes)


def _state(target: Path) -> tuple[int, int, int]:
    """Return size, modification time (ns) and inode of the file; a change shows that another process has written or replaced it."""
    found = target.stat()
    return found.st_size, found.st_mtime_ns, found.st_ino
