"""A session of a run that asks models: its channels opened, its work done to the end or until Ctrl-C, its status noted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Final

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunStatus, set_run_status
from piiloom.execution.call_channel import CallChannel, CallPolicy, open_channel
from piiloom.execution.calls import AGAIN
from piiloom.execution.committing import GroupCommitter
from piiloom.execution.ordering import StopSignal, stopped_by_ctrl_c
from piiloom.foundation.errors import Interrupted
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.providers.protocol import Provider

_PACE_S: Final = 0.01  # minimum time between commits, as in generation: a commit takes 1 to 3 ms, with one row or with thirty
Work = Callable[[Sequence[CallChannel], StopSignal], Awaitable[None]]


def ask_to_end(store: Store, run_id: str, providers: Sequence[Provider], policy: CallPolicy, work: Work, *, seed: int) -> list[CallChannel]:
    """Do *work* with a channel to each of *providers* (the same for the same one), and return the channels.

    The first channel's limits and totals are those of all. Replies that were paid for are kept in any case. Raises ``Interrupted`` after
    Ctrl-C.
    """
    committer = GroupCommitter(store, run_id, pace_s=_PACE_S)
    channels: list[CallChannel] = []
    for provider in providers:
        known = next((one for one in channels if one.calls.provider is provider), None)
        beside = channels[0] if channels else None
        channels.append(known or open_channel(store, run_id, provider, committer, policy, seed=seed, beside=beside))
    stop = StopSignal()
    status: RunStatus = "interrupted"
    committer.start()
    try:
        run_in_own_loop(lambda: _to_end(work, channels, stop), on_interrupt=stop.request)
        status = "interrupted" if stop.requested else "finished"
    finally:
        committer.close()
        set_run_status(store, run_id, status)
    if stop.requested:
        raise Interrupted("stopped", where=f"run {run_id}", remedy=AGAIN)
    return channels


async def _to_end(work: Work, channels: Sequence[CallChannel], stop: StopSignal) -> None:
    async with AsyncExitStack() as stack:
        for channel in dict.fromkeys(channels):
            stack.push_async_callback(channel.calls.provider.aclose)
            # Calls in flight are paid for, so wait for them: the next session finds their replies.
            stack.push_async_callback(channel.calls.drain)
        with stopped_by_ctrl_c(stop):
            await work(channels, stop)
