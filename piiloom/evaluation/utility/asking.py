"""Ask for the answers, then for the judgements on them: every request once, at most so many at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from piiloom.evaluation.utility.cases import Case
from piiloom.evaluation.utility.options import UtilitySettings
from piiloom.evaluation.utility.outcomes import Outcomes
from piiloom.evaluation.utility.tasks import ANSWER, COMPLETENESS, DISCLOSURE, PAIR, Task, answer_tasks, judge_tasks, pair_tasks
from piiloom.execution.call_channel import CallChannel
from piiloom.execution.calls import FailureLimit, Lost, ask_model
from piiloom.execution.ordering import OrderedRun, StopSignal
from piiloom.foundation.noop import noop
from piiloom.prompts.library import PromptLibrary
from piiloom.providers.protocol import PromptCall

SECOND_JUDGE: Final = "second judge"


@dataclass(frozen=True, slots=True)
class AskProgress:
    """Progress: of ``total`` requests of the present ``step`` (answers, judgements or second judge) ``done`` are decided.

    ``lost`` counts those of all steps without a usable reply, ``replayed`` replies taken from the journal; ``spent_usd`` is that of all
    sessions.
    """

    step: str
    done: int
    total: int
    lost: int
    replayed: int
    spent_usd: float

    def line(self) -> str:
        """One line for a terminal."""
        share = f"{self.step} {self.done:,}/{self.total:,}"
        return f"{share}, {self.lost:,} without a usable reply, {self.replayed:,} from the store, ${self.spent_usd:.4f} spent"


Watch = Callable[[AskProgress], None]


class Asking:
    """One session of asking. *author* answers, *judge* judges, *second* compares the pairs, too; all may be the same channel."""

    def __init__(
        self,
        library: PromptLibrary,
        author: CallChannel,
        judge: CallChannel,
        second: CallChannel | None,
        settings: UtilitySettings,
        *,
        watch: Watch = noop,
    ) -> None:
        self.outcomes = Outcomes()
        self._library, self._settings, self._watch = library, settings, watch
        self._author, self._judge, self._second = author, judge, second
        self._lost = 0

    async def run(self, cases: Sequence[Case], stop: StopSignal) -> None:
        """Ask all about *cases*, or until *stop* is requested. Raises errors that would hit every other request, too."""
        await self._step("answers", [task for case in cases for task in answer_tasks(case)], self._author, stop)
        if not stop.requested:
            tasks = [task for case in cases for task in judge_tasks(case, self.outcomes)]
            await self._step("judgements", tasks, self._judge, stop)
        if self._second is not None and not stop.requested:
            tasks = [task for case in cases for task in pair_tasks(case, self.outcomes)]
            await self._step(SECOND_JUDGE, tasks, self._second, stop)

    async def _step(self, name: str, tasks: Sequence[Task], channel: CallChannel, stop: StopSignal) -> None:
        concurrency = self._settings.concurrency
        limit = FailureLimit(channel.calls, concurrency)
        done = 0

        async def work(task: Task) -> tuple[Task, Any]:
            return task, await self._asked(task, channel, limit)

        def consume(outcome: tuple[Task, Any]) -> None:
            nonlocal done
            done += 1
            self._keep(*outcome, second=name == SECOND_JUDGE)
            totals = channel.calls.totals
            self._watch(AskProgress(name, done, len(tasks), self._lost, totals.replayed, totals.spent_usd))

        await OrderedRun(
            source=iter(tasks),
            work=work,
            consume=consume,
            # More than in flight, for some replies are still being stored; a batch takes all at once.
            concurrency=max(1, len(tasks)) if self._settings.batch else concurrency + concurrency // 2,
            stop=stop,
            gauge=channel.items,
        ).run()

    async def _asked(self, task: Task, channel: CallChannel, limit: FailureLimit) -> Any:
        def make(attempt: int, fault: str | None) -> PromptCall:
            return task.call(self._library, attempt, fault)

        async def judged(data: Any, attempt: int) -> Any:  # noqa: ARG001 - all attempts are judged alike
            return task.read(data)

        found = await ask_model(channel.calls, make, judged, attempts=self._settings.max_attempts, failure_limit=limit)
        if isinstance(found, Lost):
            self.outcomes.asked_again += found.attempts - 1
            return found
        self.outcomes.asked_again += found[1]
        return found[0]

    def _keep(self, task: Task, said: Any, *, second: bool) -> None:
        self._lost += isinstance(said, Lost)
        outcomes = self.outcomes
        by_kind: Mapping[str, dict[Any, Any]] = {
            ANSWER: outcomes.answers,
            PAIR: outcomes.second_verdicts if second else outcomes.verdicts,
            COMPLETENESS: outcomes.grades,
            DISCLOSURE: outcomes.disclosures,
        }
        by_kind[task.kind][task.key] = said
