"""What the tests of snapshots have in common: events in a store, and a process that is killed while it writes."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from piiloom.corpus.store.annotation_events import NewEvent, append_events, read_events
from piiloom.corpus.store.database import Store

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
# Opens the store (argument 1), commits five events, says so and waits to be killed: what it wrote lies in the log.
WRITER = """
import sys
from pathlib import Path
from piiloom.corpus.store.annotation_events import NewEvent, append_events
from piiloom.corpus.store.database import Store
store = Store.open(Path(sys.argv[1]))
for number in range(5):
    with store.transaction():
        append_events(store, [NewEvent(actor="ada", kind="edit", entry={"number": number, "filler": "x" * 500})], "2026")
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def writer(path: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def events_in(path: Path) -> int:
    with Store.open(path, create=False) as store:
        return len(read_events(store))


def add_events(store: Store, count: int = 1) -> None:
    append_events(store, [NewEvent(actor="ada", kind="edit")] * count, "2026")
