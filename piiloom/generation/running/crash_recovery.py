"""Merge the partition stores that a killed driver left behind, before anything else is done with their run."""

from __future__ import annotations

import time

from piiloom.corpus.store.call_events import CallEvent, save_call_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.derived_stores import Partition, left_over, merge_partition, missing, note_lost
from piiloom.execution.call_entries import failure_entry
from piiloom.foundation.errors import RunError, StoreLocked

# After a driver is killed, its worker processes end by themselves, but not at once.
_PATIENCE_S = 20.0


def merge_leftover_partitions(store: Store, run_id: str, *, patience_s: float = _PATIENCE_S) -> int:
    """Merge all partition stores of *run_id* that exist; returns how many there were.

    Requests that were in flight are merged, too; the next ``open_channel`` then charges their worst-case cost, as after any kill.
    Partitions whose store is missing are noted as lost. Raises ``RunError`` if a process still holds a partition after *patience_s*
    seconds.
    """
    found = left_over(store, run_id)
    deadline = time.monotonic() + patience_s
    for path in found:
        while True:
            try:
                merge_partition(store, run_id, path)
                break
            except StoreLocked as error:
                if time.monotonic() > deadline:
                    raise RunError(
                        "a partition of the run is still being worked on",
                        where=str(path),
                        remedy="Wait for its process to end, or end it: ray stop",
                    ) from error
                time.sleep(0.2)
    for partition in missing(store, run_id):
        note_lost(store, partition)
    return len(found)


def charge_lost(store: Store, partition: Partition, spent_usd: float) -> None:
    """Note that *partition* is lost, and charge the *spent_usd* that it had spent to the run."""
    message = "its node and the replies on it are lost; what the partition had spent is set aside"
    entry = failure_entry(1, "interrupted", message, charge_usd=spent_usd, maybe_billed=True, final=False)
    event = CallEvent(key=partition.id, kind="failed", stage="partition", item_id=str(partition.number), attempt=0, entry=entry)
    with store.transaction():
        save_call_events(store, partition.run_id, [event])
        note_lost(store, partition)
