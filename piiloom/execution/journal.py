"""The journal of paid replies: finds the reply to a request that was made before, in any run of the store."""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from piiloom.corpus.store.call_events import KnownReply, answered_keys, find_replies, keys_out, short_key
from piiloom.corpus.store.database import Store
from piiloom.execution.committing import GroupCommitter
from piiloom.foundation.errors import RunError


class Journal:
    """Finds replies by key. Holds 8 bytes per key in memory and reads replies when they are asked for.

    Keys answered after the journal was opened are not in it. That is enough, since no call is made twice in one session.
    """

    def __init__(self, store: Store, committer: GroupCommitter, run_id: str) -> None:
        """Load the keys that have a reply. Call it before the committer's thread owns the store."""
        self._known: array[int] = answered_keys(store)
        self._out = keys_out(store, but_not=run_id)
        self._committer = committer
        self._asked: dict[str, list[asyncio.Future[KnownReply | None]]] = {}
        self._reading: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._known)

    def may_have(self, key: str) -> bool:
        """Whether *key* had a reply when the journal was opened.

        Compares 60-bit prefixes and also counts replies whose text was purged, so ``find`` may return None although this is True.
        """
        short = short_key(key)
        place = bisect_left(self._known, short)
        return place < len(self._known) and self._known[place] == short

    async def find(self, key: str) -> KnownReply | None:
        """Return the newest reply to *key*, or None. Keys asked for in the same turn of the event loop are read in one query.

        Raises ``RunError`` if *key* has no reply but is in an open batch of another run, since it would be paid for twice.
        """
        reply = await self._stored(key) if self.may_have(key) else None
        if reply is None:
            self._check_not_out(key)
        return reply

    async def _stored(self, key: str) -> KnownReply | None:
        future: asyncio.Future[KnownReply | None] = asyncio.get_running_loop().create_future()
        if not self._asked:
            task = asyncio.ensure_future(self._read())
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)
        self._asked.setdefault(key, []).append(future)
        return await future

    def _check_not_out(self, key: str) -> None:
        run = self._out.get(key)
        if run is not None:
            remedy = f"Collect that first: piiloom generate --resume {run}; or cancel it: piiloom batch cancel --run {run}"
            raise RunError("a batch of another run already holds a call of this run", where=run, remedy=remedy)

    async def _read(self) -> None:
        await asyncio.sleep(0)
        asked, self._asked = self._asked, {}
        keys: Sequence[str] = list(asked)
        try:
            found = await self._committer.ask(lambda store: find_replies(store, keys))
        except BaseException as error:  # noqa: BLE001 - passed on to all callers of find
            for future in _open(asked.values()):
                future.set_exception(error)
            return
        for key, futures in asked.items():
            for future in _open([futures]):
                future.set_result(found.get(key))


def _open(groups: Iterable[Sequence[asyncio.Future[KnownReply | None]]]) -> list[asyncio.Future[KnownReply | None]]:
    """Return the futures that are not done, that is, whose caller still waits."""
    return [future for group in groups for future in group if not future.done()]
