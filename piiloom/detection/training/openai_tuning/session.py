"""A session with a job: money is set aside, the job made and followed, its cost booked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from piiloom.detection.training.openai_tuning.booking import Booking
from piiloom.detection.training.openai_tuning.estimate import PROVIDER, check_affordable
from piiloom.detection.training.openai_tuning.finishing import BOOK, RESERVE, Standing, finish, standing
from piiloom.detection.training.openai_tuning.insisting import Timing
from piiloom.detection.training.openai_tuning.job_folder import JobFolder
from piiloom.detection.training.openai_tuning.plan import Plan
from piiloom.detection.training.openai_tuning.tuning import Tuning
from piiloom.detection.training.openai_tuning.tuning_options import TuningOptions
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.noop import noop
from piiloom.providers.factory import make_provider, make_tuning_api
from piiloom.providers.tuning_api import RemoteJob, TuningApi

T = TypeVar("T")
Tell = Callable[[str], object]


def with_api(asked: TuningOptions, work: Callable[[TuningApi], Awaitable[T]], model: str | None = None) -> T:
    """Return the result of *work* with the fine-tuning API that *asked* names."""

    async def whole() -> T:
        provider = make_provider(PROVIDER, model=model, base_url=asked.base_url, timeout_s=asked.timeout_s)
        api = make_tuning_api(provider)
        try:
            return await work(api)
        finally:
            await api.aclose()

    return run_in_own_loop(whole)


def in_session(folder: JobFolder, asked: TuningOptions, work: Callable[[TuningSession], Awaitable[T]], tell: Tell = noop) -> T:
    """Return the result of *work* with a session with the job in *folder*."""
    timing = Timing() if asked.poll_s is None else Timing(first_poll_s=asked.poll_s, longest_poll_s=asked.poll_s)
    return with_api(asked, lambda api: work(TuningSession(folder, api, timing=timing, tell=tell)), model=folder.plan().model)


class TuningSession:
    """What can be done with the job in *folder*, which is locked and planned; *tell* gets lines for the user."""

    def __init__(
        self, folder: JobFolder, api: TuningApi, *, policy: RetryPolicy | None = None, timing: Timing | None = None, tell: Tell = noop
    ) -> None:
        self._folder = folder
        self._tuning = Tuning(folder, api, policy=policy or RetryPolicy(), timing=timing or Timing(), tell=tell)

    async def run(self, *, budget_usd: float | None = None, unpriced: bool = False, wait: bool = True) -> Standing:
        """Make the job unless it is made, follow it to its end if *wait*, and book what it cost. Return how it stands.

        Raises ``BudgetReached`` before anything is sent if it could cost more than *budget_usd*; ``DataError`` for files that the server
        refuses; errors of providers and stores. What was begun is gone on with the next time. A job that failed is told, not raised.
        """
        tuning = self._tuning
        if not tuning.may_exist:
            self._reserve(tuning.plan, budget_usd, unpriced=unpriced)
        try:
            job = await tuning.start()
        except Exception:
            if not tuning.may_exist:
                self._release()
            raise
        job = await tuning.follow(job) if wait else job
        return self._settled(job)

    async def look(self) -> Standing:
        """Ask how the job stands."""
        return self._settled(await self._tuning.look())

    async def cancel(self) -> Standing:
        """Cancel the job if there is one, and book what it cost."""
        job = await self._tuning.cancel()
        if job is None:
            self._release()
        return self._settled(job)

    async def unpause(self, *, wait: bool = True) -> Standing:
        """Let a paused job go on, and follow it if *wait*. Raises ``RunError`` if it is not paused."""
        job = await self._tuning.unpause()
        return self._settled(await self._tuning.follow(job) if wait else job)

    async def delete_files(self) -> list[str]:
        """Delete the uploaded files; return their ids."""
        return await self._tuning.delete_files()

    def _settled(self, job: RemoteJob | None) -> Standing:
        if job is not None and job.ended:
            finish(self._folder, self._tuning, job)
        return standing(self._folder)

    def _reserve(self, plan: Plan, budget_usd: float | None, *, unpriced: bool) -> None:
        check_affordable(plan.estimate, budget_usd, model=plan.model, unpriced=unpriced)
        ledger = self._tuning.ledger
        ledger.intent(RESERVE, usd=plan.estimate.most_usd)
        ledger.done(RESERVE, run=Booking(plan).reserve(), usd=plan.estimate.most_usd)

    def _release(self) -> None:
        ledger = self._tuning.ledger
        if ledger.result(RESERVE) is not None and ledger.result(BOOK) is None:
            Booking(self._tuning.plan).release("no job was made")
