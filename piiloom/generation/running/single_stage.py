"""One stage alone, on the items in the store that wait for it. All stages in order give the same records as a whole run."""

from __future__ import annotations

from collections.abc import Iterator

from piiloom.corpus.store.runs import RunStatus
from piiloom.execution.ordering import StopSignal
from piiloom.foundation.errors import RunError, UsageError
from piiloom.generation.plan.planning import horizons, planned_for
from piiloom.generation.running.item_runner import Round, WholeRun
from piiloom.generation.running.progress import RunProgress
from piiloom.generation.running.session import OpenedRun
from piiloom.generation.running.topic_catalog import TopicCatalog
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.stages import screen, subtopics, topics
from piiloom.generation.stages.pipeline import all_stage_names, item_stages, stage_names


def check_stage(name: str) -> str:
    """Return *name* if it is a stage; raises ``UsageError`` listing the stages otherwise."""
    if name not in all_stage_names():
        raise UsageError(f"unknown stage {name!r}", remedy=f"The stages, in order: {', '.join(all_stage_names())}")
    return name


def check_stage_of(name: str, config: RunConfig, *, where: str | None = None) -> None:
    """Raise ``RunError`` if a run of *config* does not have the stage *name*; *where* is the run id for the message."""
    known = stage_names(config.recipe, config.judges)
    if name not in known:
        remedy = f"It has {', '.join(known)}; judges and the recipe are chosen when a run is started"
        raise RunError(f"the run has no stage {name}", where=where, remedy=remedy)


class SingleStage(WholeRun):
    """The strategy of one stage alone.

    It lets exactly as many items pass as records are wanted. For each item it rejects, it takes the next item of the plan through
    the earlier stages and then through this one. So running the stages in order works on the same items as a whole run. ``progress``
    counts the items that pass (pairs or topics at the stages that run once for each).

    Raises ``UsageError`` for an unknown stage, ``RunError`` if the run does not have it.
    """

    def __init__(self, name: str, opened: OpenedRun) -> None:
        check_stage(name)
        check_stage_of(name, opened.config, where=opened.run.id)
        self._name, self._run = name, opened.run
        all_stages = item_stages(opened.config.recipe, opened.config.judges)
        self._names = [stage.name for stage in all_stages]
        # The number of item stages before this one; 0 for those of pairs and topics, too.
        place = len(all_stages) if name == screen.NAME else self._names.index(name) if name in self._names else 0
        self._before = self._names[place - 1] if place else None
        super().__init__(opened, all_stages[: place + 1], screens=name == screen.NAME)
        # The items (as JSON, by plan index) that have passed the stage before and no other since.
        self._waiting = self.earlier.passed(self._before) if self._before is not None else {}
        self.progress = RunProgress(run_id=opened.run.id, wanted=0)

    async def prepare(self, catalog: TopicCatalog, stop: StopSignal) -> None:
        """Check that it is this stage's turn and set how many items must pass; topics and subtopics are done with this."""
        planned = planned_for(self._config.samples, self._config.margin)
        if self._name == topics.NAME:
            try:
                await catalog.ensure_topics(planned, stop)
            finally:
                self._count(catalog, catalog.topics_known)
            return
        if not catalog.has_topics(planned):
            raise RunError("topics are missing", where=self._run.id, remedy="Run the stage topics first")
        if self._name == subtopics.NAME:
            try:
                await catalog.ensure_subtopics(planned, stop)
            finally:
                self._count(catalog, catalog.subtopics_known)
            return
        if len(self.earlier.accepted) >= self._config.samples:
            return  # the run has all its records
        if self._before is not None:
            self._check_turn()
        elif not catalog.is_ready(planned):
            raise RunError("subtopics are missing", where=self._run.id, remedy="Run the stage subtopics first")
        self.progress.wanted = max(0, self._config.samples - len(self.earlier.accepted) - self._elsewhere())

    def rounds(self) -> Iterator[Round]:
        """Yield the items that have passed the stage before and new ones, in plan order.

        Raises ``RunError`` if screening, which goes in plan order, comes to an item that has not passed all stages.
        """
        if self._name in (topics.NAME, subtopics.NAME):
            return
        under_way, decided, waiting, missing = self.earlier.under_way, self.earlier.decided, self._waiting, self.progress.missing
        behind = None if self.screening is None else min((index for index in under_way if index not in waiting), default=None)
        for first, end in horizons(self._config, missing):
            until = end if behind is None else min(end, behind)
            chosen = (i for i in range(first, until) if i not in decided and (i in waiting or i not in under_way))
            yield Round(planned=end, indexes=chosen, still_wanted=missing)
            if behind is not None and until == behind and missing() > 0:
                where = f"{self._run.id}, plan item {behind}"
                raise RunError(f"the item has only completed {under_way[behind][0]}", where=where, remedy="Run the stages after that first")

    def ended(self, *, stopped: bool) -> RunStatus:
        """The stage is finished or interrupted; the run is finished if this was screening and all records are there."""
        self.progress.status = "interrupted" if stopped else "finished"
        accepted = len(self.earlier.accepted) + (self.progress.accepted if self.screening is not None else 0)
        return "finished" if accepted >= self._config.samples else "interrupted"

    def failed(self, error: BaseException) -> RunStatus:
        """If another stage must run first, the run keeps its status; any other error interrupts it."""
        return "interrupted" if not isinstance(error, RunError) or self._run.status == "running" else self._run.status

    def _count(self, catalog: TopicCatalog, known: int) -> None:
        """Set the progress of a stage that runs once per pair or topic: *known* of them are done, the given-up ones are rejects."""
        for row in catalog.given_up(self._name):
            self.progress.count_reject(row)
        self.progress.accepted, self.progress.wanted = known, known + self.progress.rejected

    def _check_turn(self) -> None:
        """Raise ``RunError`` if no item has reached this stage, naming the stage that must run first."""
        names = [*self._names, screen.NAME]
        reached = {names.index(done) for done, _ in self.earlier.under_way.values()}
        if self.earlier.decided if not reached else max(reached) >= names.index(self._name) - 1:
            return
        first = names[max(reached) + 1] if reached else names[0]
        raise RunError(f"no item is ready for {self._name}", where=self._run.id, remedy=f"Run the stage {first} first")

    def _elsewhere(self) -> int:
        """Count the items at other stages, which may still become records; at screening only accepted records count."""
        return 0 if self.screening is not None else len(self.earlier.under_way) - len(self._waiting)
