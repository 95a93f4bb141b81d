"""Opening a store, transactions, locks, crashes and full disks."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records, count_records, iter_records
from piiloom.corpus.store.runs import create_run, list_runs
from piiloom.corpus.store.store_files import hide_progress_bar, holder_command, opening_fault, translate
from piiloom.foundation.errors import DataError, NotAStore, OutputError, StoreError, StoreLocked, StoreTooNew
from tests.longer import case_by_case, mostly_long

MakeRecord = Callable[..., Record]

# A process that opens a store (argument 1), adds three records in a transaction, begins another, and then waits to be killed.
WRITER = """
import sys
from pathlib import Path
from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
store = Store.open(Path(sys.argv[1]))
with store.transaction():
    add_records(store, None, [(None, Record(id=str(n), context="kept")) for n in range(3)])
with store.transaction():
    add_records(store, None, [(None, Record(id="x", context="lost"))])
    print("ready", flush=True)
    sys.stdin.read()
"""
# A process that may write files of at most 4 MB: to DuckDB that looks like a full disk.
FULL_DISK = """
import random, resource, signal, sys
from pathlib import Path
from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records, count_records
from piiloom.foundation.errors import OutputError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store.open(Path(sys.argv[1]))
sys.dont_write_bytecode = True  # half a file would be taken for a whole one next time
resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, resource.RLIM_INFINITY))
rng = random.Random(1)
added = 0
try:
    while added < 20_000:
        batch = [(None, Record(id=str(added + n), context=rng.randbytes(500).hex())) for n in range(500)]
        with store.transaction():
            add_records(store, None, batch)
        added += 500
except OutputError as error:
    print(error)
print(added)
print(count_records(store))
store.close()
"""

# A process that may write files of at most 1 kB, less than an empty store needs.
NO_ROOM = """
import resource, signal, sys
from pathlib import Path
from piiloom.corpus.store.database import Store
from piiloom.foundation.errors import OutputError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.dont_write_bytecode = True  # half a file would be taken for a whole one next time
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
try:
    Store.open(Path(sys.argv[1]))
except OutputError as error:
    print(error)
"""


@contextmanager
def writer(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of ours that holds the store at *path*; killed at the end."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def test_makes_missing_folders_and_keeps_what_was_written(store_path: Path, make_record: MakeRecord) -> None:
    with Store.open(store_path) as store:
        add_records(store, None, [(None, make_record(1))])
    assert not store_path.with_name(store_path.name + ".wal").exists()
    with Store.open(store_path, create=False) as store:
        assert list(iter_records(store)) == [make_record(1)]


def test_absent_store_is_not_made_without_create(store_path: Path) -> None:
    with pytest.raises(StoreError, match="no store here"):
        Store.open(store_path, create=False)
    assert not store_path.parent.exists()


def test_second_process_learns_who_holds_it_and_a_killed_writer_loses_nothing_committed(store_path: Path) -> None:
    with writer(store_path) as process:
        with pytest.raises(StoreLocked) as caught:
            Store.open(store_path)
        message = str(caught.value)
        assert f"process {process.pid} " in message
        assert Path(sys.executable).name in message
        assert "--store" in message
    assert store_path.with_name(store_path.name + ".wal").exists()
    with Store.open(store_path) as store:
        assert [record.id for record in iter_records(store)] == ["0", "1", "2"]
        assert add_records(store, None, [(None, Record(id="3", context="next"))]) == 1
        assert [record.id for record in iter_records(store)] == ["0", "1", "2", "3"]


def test_holder_command_stops_before_options_and_is_none_for_nobody() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; print(1, flush=True); sys.stdin.read()", "--token", "secret"], stdin=-1, stdout=-1
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        command = holder_command(process.pid)
        process.kill()
    assert command is not None
    assert sys.executable in command
    assert "secret" not in command
    assert holder_command(2**22 + 1) is None


def test_lock_message_without_a_process_number() -> None:
    fault = opening_fault(duckdb.IOException("IO Error: Could not set lock on file"), Path("x.duckdb"))
    assert isinstance(fault, StoreLocked)
    assert "another process holds" in str(fault)


def test_other_settings_in_the_same_process_are_refused(store_path: Path) -> None:
    with Store.open(store_path), pytest.raises(StoreLocked, match="this process"):
        Store.open(store_path, threads=2)


def test_full_disk_is_an_output_error_and_keeps_what_was_committed(store_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(store_path)], capture_output=True, text=True, check=True)
    message, added, counted = done.stdout.splitlines()
    assert "cannot be written" in message
    assert "file size limit" in message
    assert "--store" in message
    assert 0 < int(added) < 20_000
    assert added == counted
    with Store.open(store_path) as store:
        assert count_records(store) == int(added)


@pytest.mark.parametrize("content", [b"", b"hello\n" * 2000, b"SQLite format 3\x00" + bytes(4096)])
def test_other_files_are_not_stores(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(NotAStore, match="--store"):
        Store.open(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "suffix",
    mostly_long(["csv", "json", "jsonl", "ndjson", "tsv", "parquet", "csv.gz", "db", "xlsx", "duckdb"], quick={"csv", "parquet"}),
)
@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2\n", b'{"a": 1}\n', b"PAR1" + bytes(40) + b"PAR1", b"SQLite format 3\x00" + bytes(4096)]
)
def test_the_content_decides_and_not_the_name(tmp_path: Path, suffix: str, content: bytes) -> None:
    """DuckDB opens data files in memory by the end of their names: what was stored was lost."""
    path = tmp_path / f"data.{suffix}"
    path.write_bytes(content)
    with pytest.raises(NotAStore, match="--store") as caught:
        Store.open(path)
    assert ("is empty" in str(caught.value)) == (not content)
    assert path.read_bytes() == content
    path.unlink()
    with Store.open(path) as store:
        add_records(store, None, [(None, Record(id="1", context="kept"))])
    with Store.open(path, create=False) as store:
        assert count_records(store) == 1


@pytest.mark.parametrize(
    "table", ["other (a INTEGER)", "schema_version (version INTEGER)", "schema_version (version INTEGER, application VARCHAR)"]
)
def test_duckdb_file_of_somebody_else_is_not_a_store(tmp_path: Path, table: str) -> None:
    path = tmp_path / "theirs.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE {table}")
    with pytest.raises(NotAStore):
        Store.open(path)
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT count(*) FROM duckdb_tables()").fetchone() == (1,)


def test_damaged_file_and_folder_and_impossible_place(store_path: Path, tmp_path: Path) -> None:
    Store.open(store_path).close()
    store_path.write_bytes(store_path.read_bytes()[:5000])
    with pytest.raises(StoreError, match="damaged"):
        Store.open(store_path)
    with pytest.raises(NotAStore, match="not a file"):
        Store.open(tmp_path)
    with pytest.raises(OutputError, match="no store can be made"):
        Store.open(store_path / "below" / "a-file.duckdb")


def test_damaged_log_is_named(store_path: Path) -> None:
    with writer(store_path):
        pass
    log = store_path.with_name(store_path.name + ".wal")
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 0xFF
    log.write_bytes(content)
    with pytest.raises(StoreError, match="write-ahead log is damaged"):
        Store.open(store_path)


def test_no_room_to_make_a_store_leaves_no_stump(store_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", NO_ROOM, str(store_path)], capture_output=True, text=True, check=True)
    assert "file size limit" in done.stdout
    assert not store_path.exists()


@case_by_case(
    ("name", "message", "kind", "said"),
    [
        ("IOException", "IO Error: Could not write file: No space left on device", OutputError, "disk is full"),
        ("IOException", "IO Error: Cannot open file: Read-only file system", OutputError, "read-only"),
        ("FatalException", "database has been invalidated", StoreError, "Open it again"),
        ("OutOfMemoryException", "could not allocate", StoreError, "memory_limit"),
        (
            "InvalidInputException",
            "Invalid Input Error: Could not change the progress bar setting because: 'required package 'ipywidgets' is missing'",
            StoreError,
            "(InvalidInputException: Could not change the progress bar setting because: 'required package 'ipywidgets' is missing')",
        ),
        ("InvalidInputException", "Invalid Input Error: Could not parse string 'private'", StoreError, "(InvalidInputException)"),
    ],
)
def test_what_duckdb_says_becomes_what_to_do(name: str, message: str, kind: type[StoreError], said: str) -> None:
    fault = translate(getattr(duckdb, name)(message), Path("x.duckdb"))
    assert type(fault) is kind
    assert said in str(fault)


def test_a_setting_that_duckdb_refuses_is_no_damaged_file(store_path: Path) -> None:
    Store.open(store_path).close()
    with pytest.raises(StoreError, match=r"refused a statement \(ParserException: Memory must have a number"):
        Store.open(store_path, memory_limit="plenty")


def test_file_of_a_newer_duckdb(store_path: Path) -> None:
    Store.open(store_path).close()
    said = "IO Error: Trying to read a database file with version number 999, but we can only read versions up to 100"
    assert isinstance(opening_fault(duckdb.IOException(said), store_path), StoreTooNew)


def test_transaction_is_all_or_nothing(store: Store, make_record: MakeRecord) -> None:
    def add_and_fail() -> None:
        with store.transaction():
            add_records(store, None, [(None, make_record(1))])
            create_run(store, provider="composer", model=None, seed=1, samples=1, config={}, config_digest="d")
            raise KeyError

    with pytest.raises(KeyError):
        add_and_fail()
    assert count_records(store) == 0
    assert list_runs(store) == []
    with store.transaction():
        add_records(store, None, [(None, make_record(2))])
    assert count_records(store) == 1


def test_nested_transaction_is_an_error_and_undoes_the_outer(store: Store, make_record: MakeRecord) -> None:
    def nest() -> None:
        with store.transaction():
            add_records(store, None, [(None, make_record(1))])
            with store.transaction():
                pass

    with pytest.raises(StoreError, match="open already"):
        nest()
    assert count_records(store) == 0


def test_close_undoes_an_open_transaction_and_ends_all_use(store_path: Path, make_record: MakeRecord) -> None:
    store = Store.open(store_path)

    def close_inside() -> None:
        with store.transaction():
            add_records(store, None, [(None, make_record(1))])
            store.close()
            count_records(store)

    with pytest.raises(StoreError, match="closed"):
        close_inside()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        count_records(store)
    with Store.open(store_path) as again:
        assert count_records(again) == 0


def test_a_worker_thread_may_use_the_store(store: Store, make_record: MakeRecord) -> None:
    def work() -> None:
        with store.transaction():
            add_records(store, None, [(None, make_record(1))])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert list(iter_records(store)) == [make_record(1)]


# Statements that DuckDB refuses, and what we report: its class, then its message if that cannot quote data, else our text.
REFUSED = {
    "SELECT ?::INTEGER": "ConversionException: a value is of another type than its column",
    "SELECT strptime(?, '%Y')": "InvalidInputException",
    "SELECT error(?)": "InvalidInputException",
    "INSERT INTO runs (id) VALUES (?)": "ConstraintException: a row breaks a rule of its table",
    "SELECT ?, 9223372036854775807 + 1": "OutOfRangeException: a number is too large",
    "SELECT ? FRM runs": 'ParserException: syntax error at or near "runs"',
    "SELECT ?, nothing FROM runs": 'BinderException: Referenced column "nothing" not found in FROM clause!',
    "SELECT ? FROM nothing": "CatalogException: Table with name nothing does not exist!",
    "SET nothing = ?": 'CatalogException: unrecognized configuration parameter "nothing"',
}


def test_refused_statements_name_the_cause_and_do_not_quote_values(store: Store) -> None:
    for sql, cause in REFUSED.items():
        with pytest.raises(StoreError) as caught:
            store.rows(sql, ["private words"])
        assert "private" not in str(caught.value), sql
        assert f"DuckDB refused a statement ({cause}" in str(caught.value)
    with pytest.raises(DataError, match="surrogate"):
        store.rows("SELECT ?", ["\udc80"])


def test_a_long_query_draws_no_progress_bar_into_the_output(store: Store) -> None:
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = true")  # as DuckDB does in interactive Python
        hide_progress_bar(connection)
        assert connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(False,)]
    assert store.rows("SELECT current_setting('enable_progress_bar')") == [(False,)]
