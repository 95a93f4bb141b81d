"""Cancel or give up batches outside a run.

Answers that a batch had by then were paid for, so cancelling collects them into the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from piiloom.corpus.store.call_events import BatchRow, CallEvent, OpenBatch
from piiloom.execution.batches.jobs import BatchJob, QueueFull
from piiloom.execution.batches.ledger import BatchLedger, BatchPolicy, entry_owed
from piiloom.execution.call_entries import failure_entry
from piiloom.execution.call_totals import CallTotals
from piiloom.execution.committing import Batch, GroupCommitter
from piiloom.foundation.errors import ProviderError
from piiloom.foundation.noop import noop
from piiloom.providers.batch_api import BatchApi
from piiloom.providers.protocol import Provider

# Shorter polling intervals, since a cancelled batch ends soon.
_SOON = BatchPolicy(first_poll_s=1.0, longest_poll_s=20.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """How a batch ended: its row now, the number of its open requests (``owed``), and how many of them were answered.

    ``cost_usd`` is what the answers cost (None: no price known). ``charged_usd`` is charged for requests that may have been billed
    although no answer was received.
    """

    row: BatchRow
    owed: int
    answered: int = 0
    cost_usd: float | None = 0.0
    charged_usd: float = 0.0

    def to_json(self) -> dict[str, object]:
        """Return the row and the counts as JSON values."""
        counts = {"owed": self.owed, "answered": self.answered}
        return asdict(self.row) | counts | {"cost_usd": self.cost_usd, "charged_usd": self.charged_usd}


async def cancel_batches(
    provider: Provider,
    api: BatchApi,
    committer: GroupCommitter,
    batches: Sequence[OpenBatch],
    *,
    policy: BatchPolicy | None = None,
    watch: Callable[[Settled], object] = noop,
) -> list[Settled]:
    """Cancel *batches*, all of one run, wait until they have ended, and store the answers they had. Calls *watch* after each.

    Raises the first error after all batches have been handled; a batch that could not be cancelled keeps its state.
    """

    async def end(batch: OpenBatch) -> Settled:
        totals = CallTotals()
        ledger = BatchLedger(provider, committer, totals, batch.row.run_id)
        entries = {owed.row.custom_id: entry_owed(owed, None) for owed in batch.owed}
        job = BatchJob(api, ledger, policy or _SOON, batch.row, entries, known=ledger.known_ids)
        await _ended(job)
        cost = None if totals.unpriced else totals.cost_usd
        settled = Settled(row=job.row, owed=len(entries), answered=totals.answered, cost_usd=cost, charged_usd=totals.charged_usd)
        watch(settled)
        return settled

    found = await asyncio.gather(*(end(batch) for batch in batches), return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return [one for one in found if isinstance(one, Settled)]


async def _ended(job: BatchJob) -> None:
    """Cancel a batch and collect its answers."""
    if await job.cancel():
        try:
            await job.answers()
        except (ProviderError, QueueFull):
            if not job.came_to_nothing:
                raise


def forget_batches(committer: GroupCommitter, batches: Sequence[OpenBatch]) -> list[Settled]:
    """Give *batches* up without contacting their provider; the worst case of each open request is charged, once."""
    rows = Batch()
    settled = []
    message = "its batch was given up; it may have been paid for"
    for batch in batches:
        row = replace(batch.row, state="failed", detail="it was given up; what it may have cost is charged in full")
        rows.batches.append(row)
        for owed in batch.owed:
            entry = failure_entry(owed.tries, "interrupted", message, charge_usd=owed.row.worst_usd or 0.0, maybe_billed=True, final=False)
            what = owed.row
            rows.calls.append(
                CallEvent(key=what.key, kind="failed", stage=what.stage, item_id=what.item_id, attempt=what.attempt, entry=entry)
            )
        charged = sum(owed.row.worst_usd or 0.0 for owed in batch.owed)
        settled.append(Settled(row=row, owed=len(batch.owed), charged_usd=charged))
    committer.put(rows)
    return settled
