"""Open a store for writing, and delete it again if it was created and nothing was written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import count_records
from piiloom.corpus.store.runs import list_runs
from piiloom.foundation.errors import PiiloomError


@contextmanager
def store_for_writing(path: Path) -> Iterator[Store]:
    """Open the store at *path*, creating it if needed. After an error, a store that was created here and is still empty is deleted."""
    existed = path.exists()
    with Store.open(path) as store:
        try:
            yield store
        except PiiloomError:
            if not existed and _is_empty(store):
                store.close()
                path.unlink(missing_ok=True)
            raise


def _is_empty(store: Store) -> bool:
    with suppress(PiiloomError):
        return not list_runs(store) and not count_records(store)
    return False
