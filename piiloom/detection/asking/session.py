"""A session with a model: the store of replies, the journal, the budget and the connections, opened for many texts and closed again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from typing import Any, Final, Self

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RunRow, asking_run, set_run_status
from piiloom.detection.asking.asker import ModelAsker
from piiloom.detection.detector_settings import ModelSettings
from piiloom.execution.call_channel import CallChannel, CallPolicy, open_channel
from piiloom.execution.committing import GroupCommitter
from piiloom.foundation.seeding import digest
from piiloom.prompts.library import open_instructions, open_library
from piiloom.providers.protocol import Provider

_PACE_S: Final = 0.01  # minimum time between commits, as in generation: a commit takes 1 to 3 ms, with one row or with thirty


class ModelSession:
    """An open session of the run ``run_id``: the ``channel`` of its calls, and the ``asker`` of its questions.

    Make it with ``open``, within the event loop that it is used in, and end it with ``close``.
    """

    def __init__(self, run_id: str, channel: CallChannel, asker: ModelAsker, asynchronous: AsyncExitStack, rest: ExitStack) -> None:
        self.run_id, self.channel, self.asker = run_id, channel, asker
        self._asynchronous, self._rest = asynchronous, rest
        self._finished = False

    @classmethod
    async def open(
        cls,
        settings: ModelSettings,
        templates: Sequence[str],
        *,
        instructions: Sequence[str] = (),
        kind: str = "detect",
        provider: Provider | None = None,
        policy: CallPolicy | None = None,
    ) -> Self:
        """Open the session, which asks by *templates* (names), into which *instructions* of training sets are put (names).

        *kind* begins the name of the run.
        *provider* replaces that of the settings, and stays open; of *policy*, what the settings do not say counts.

        Raises errors of stores and providers, and ``UsageError`` for an unknown provider or a price that is needed.
        """
        library = open_library(settings.prompts)
        async with AsyncExitStack() as asynchronous:
            if provider is None:
                provider = settings.connect()
                asynchronous.push_async_callback(provider.aclose)
            with ExitStack() as rest:
                store = rest.enter_context(settings.open_replies())
                prompts = [library.find(name) for name in templates] + [open_instructions().find(name) for name in instructions]
                run = _run(store, kind, settings, [one.sha256 for one in prompts], provider)
                committer = GroupCommitter(store, run.id, pace_s=_PACE_S)
                policy = replace(
                    policy or CallPolicy(),
                    concurrency=settings.concurrency,
                    rpm=settings.rpm,
                    tpm=settings.tpm,
                    budget_usd=settings.budget_usd,
                    batch=settings.batch,
                )
                channel = open_channel(store, run.id, provider, committer, policy, seed=settings.seed)
                asker = ModelAsker(channel.calls, library, attempts=settings.max_attempts, concurrency=settings.concurrency)
                # Calls in flight are paid for, so wait for them: the next session finds their replies.
                asynchronous.push_async_callback(channel.calls.drain)
                session = cls(run.id, channel, asker, asynchronous.pop_all(), rest.pop_all())
        session._rest.callback(session._note_status, store, run.id)
        session._rest.callback(committer.close)
        committer.start()
        return session

    async def close(self, *, finished: bool) -> None:
        """Wait for the calls in flight, keep their replies, and close everything. *finished*: the run came to its end."""
        self._finished = finished
        try:
            await self._asynchronous.aclose()
        finally:
            self._rest.close()

    def _note_status(self, store: Store, run_id: str) -> None:
        set_run_status(store, run_id, "finished" if self._finished else "interrupted")


def _run(store: Store, kind: str, settings: ModelSettings, prompts: list[str], provider: Provider) -> RunRow:
    """Return the run of these settings and *prompts* (sha256 of each): an earlier one, whose spending counts, or a new one."""
    told: dict[str, Any] = {
        kind: settings.run or True,
        "provider": provider.name,
        "model": provider.model,
        "endpoint": provider.endpoint,
        "attempts": settings.max_attempts,
        "seed": settings.seed,
    }
    plan = digest(kind, told, prompts)
    return asking_run(store, kind, told, plan)
