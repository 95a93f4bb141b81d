"""One open store shared by the threads of a server: each thread reads through its own cursor, and one thread writes at a time.

If two threads change the same row at once, DuckDB raises "Conflict on update!". Retrying took 1 s at the 99th percentile; a lock
took 0.1 s (``shared/notes/annotation_app_facts.md``).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.releases import types_of
from piiloom.taxonomy.own_types import extended


class SharedStore:
    """A thread-safe wrapper around *store*. After wrapping, use the store only through this object.

    ``taxonomy``: the types that ship and those of the store, as they were then.
    """

    def __init__(self, store: Store) -> None:
        self.path, self.taxonomy = store.path, extended(types_of(store))
        self._store = store
        self._writer = threading.Lock()
        self._next = threading.Lock()
        self._own = threading.local()

    @contextmanager
    def reading(self) -> Iterator[Store]:
        """Give this thread's view of the store. It sees committed data, and what the thread's own open transaction has written."""
        yield self._view()

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """Give this thread's view in a transaction: commit the block at its end, or roll it back if it raises.

        Waits for the write lock. A nested block of the same thread joins the outer transaction.
        """
        with self._turn():
            view = self._view()
            with view.writing():
                yield view

    @contextmanager
    def alone(self) -> Iterator[Store]:
        """Give this thread's view with the write lock but no transaction, for code that opens its own transactions."""
        with self._turn():
            yield self._view()

    def close(self) -> None:
        """Wait for the write lock, then close the file. Views must not be used afterwards."""
        with self._turn():
            self._store.close()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Acquire the write lock; reentrant. Waiting threads go before the previous holder.

        So a long job that releases the lock between steps starves nobody. With a plain lock the releasing thread mostly took it
        again, and others waited for seconds; here the next waiter already holds ``_next``, so the releasing thread queues behind.
        """
        if getattr(self._own, "writes", False):
            yield
            return
        with self._next:
            self._writer.acquire()
        self._own.writes = True
        try:
            yield
        finally:
            self._own.writes = False
            self._writer.release()

    def _view(self) -> Store:
        view: Store | None = getattr(self._own, "view", None)
        if view is None:
            view = self._own.view = self._store.beside()
        return view
