"""One open store for the many threads of a server: each reads through a cursor of its own, and one writes at a time.

DuckDB answers two threads that change one row at once with "Conflict on update!", and retries took a second at the 99th
percentile where a lock took a tenth (``shared/notes/annotation_app_facts.md``).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from piiloom.corpus.store.database import Store


class SharedStore:
    """*store*, which nobody else uses any more, for all threads of a process."""

    def __init__(self, store: Store) -> None:
        self.path = store.path
        self._store = store
        self._writer = threading.Lock()
        self._next = threading.Lock()
        self._own = threading.local()

    @contextmanager
    def reading(self) -> Iterator[Store]:
        """Give the view of this thread: what is committed, and what its own open transaction has written."""
        yield self._view()

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """Give the view of this thread, in a transaction: all of the block is committed at its end, or nothing when it raises.

        One thread writes at a time; a block inside another one of the same thread joins it.
        """
        with self._turn():
            view = self._view()
            with view.writing():
                yield view

    @contextmanager
    def alone(self) -> Iterator[Store]:
        """Give the view of this thread without a transaction, while nobody else writes: for what makes its own."""
        with self._turn():
            yield self._view()

    def close(self) -> None:
        """Close the file, once whoever writes has done; views of it are dead from then on."""
        with self._turn():
            self._store.close()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Be the one who writes. Whoever waits comes before who has just written: long work in small steps keeps nobody out.

        A lock alone is mostly taken again by the thread that let go of it; waiters then had to wait for seconds.
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
