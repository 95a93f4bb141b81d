"""Ctrl-C while DuckDB works: DuckDB makes a RuntimeError of it, the store gives it back as what it is."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pytest

from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.upgrading import Migrations
from piiloom.foundation.errors import StoreError

LONG_QUERY = "SELECT count(*) FROM range(100000000000) t(a) WHERE a % 7 = 3"


@contextmanager
def ctrl_c_in(seconds: float) -> Iterator[None]:
    """SIGINT for this process, while the block runs."""
    blow = threading.Timer(seconds, os.kill, [os.getpid(), signal.SIGINT])
    blow.start()
    try:
        yield
    finally:
        blow.join()


def test_an_interrupted_query_is_an_interruption_and_the_store_goes_on(tmp_path):
    with Store.open(tmp_path / "s.duckdb") as store:
        with pytest.raises(KeyboardInterrupt), ctrl_c_in(0.2):
            store.rows(LONG_QUERY)
        assert store.rows("SELECT 1") == [(1,)]


def test_an_interrupted_transaction_leaves_nothing(tmp_path):
    path = tmp_path / "s.duckdb"
    with Store.open(path) as store:
        store.change("CREATE TABLE t (a BIGINT)")
        with pytest.raises(KeyboardInterrupt), ctrl_c_in(0.2):
            _write_for_long(store)
        assert store.rows("SELECT count(*) FROM t") == [(0,)]
        with store.transaction():
            store.change("INSERT INTO t VALUES (2)")
    with Store.open(path, create=False) as store:
        assert store.rows("SELECT a FROM t") == [(2,)]


def _write_for_long(store: Store) -> None:
    with store.transaction():
        store.change("INSERT INTO t VALUES (1)")
        store.change(f"INSERT INTO t {LONG_QUERY}")


def test_an_interrupted_migration_is_no_failed_one():
    steps = Migrations()

    @steps.register(1, "takes its time")
    def _first(connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute(LONG_QUERY)

    with pytest.raises(KeyboardInterrupt), ctrl_c_in(0.2):
        Store.open(MEMORY, migrations=steps)


def test_other_errors_stay_what_they_are(tmp_path):
    with Store.open(tmp_path / "s.duckdb") as store, pytest.raises(StoreError):
        store.rows("SELECT no_such_column")
