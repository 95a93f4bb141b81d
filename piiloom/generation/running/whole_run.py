"""A whole run: all stages and screening, until the wanted number of records is accepted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.runs import RunStatus
from piiloom.execution.ordering import StopSignal
from piiloom.generation.plan.horizons import horizons, planned_for
from piiloom.generation.running.item_runner import Round, read_resume_state
from piiloom.generation.running.progress import RunProgress
from piiloom.generation.running.session import OpenedRun
from piiloom.generation.running.topic_catalog import TopicCatalog
from piiloom.generation.stage import Stage
from piiloom.generation.stages.pipeline import item_stages, templates_of
from piiloom.generation.stages.screen import Screening


class WholeRun:
    """The strategy of a whole run; each round after the first replaces the items rejected in the one before. ``progress``: of records."""

    def __init__(self, opened: OpenedRun) -> None:
        self._config = config = opened.config
        self.earlier = read_resume_state(opened.store, opened.run.id)
        self.stages: Sequence[Stage] = item_stages(config.recipe, config.judges)
        self.screening: Screening | None = primed_screening(opened)
        self.progress = RunProgress(run_id=opened.run.id, wanted=config.samples, accepted=len(self.earlier.accepted))
        for row in self.earlier.rejects:
            self.progress.count_reject(row)

    async def prepare(self, catalog: TopicCatalog, stop: StopSignal) -> None:
        """Nothing comes before the rounds."""

    def rounds(self) -> Iterator[Round]:
        """Yield the items that are not decided yet, until enough records are accepted or the plan is exhausted."""
        decided, missing = self.earlier.decided, self.progress.missing
        again = [index for index in sorted(self.earlier.draws) if index not in decided]
        if again and missing() <= 0:  # retried on request, although the run has enough records
            planned = max(planned_for(self._config.samples, self._config.margin), again[-1] + 1)
            yield Round(planned=planned, indexes=iter(again), still_wanted=lambda: len(again))
        for first, end in horizons(self._config, missing):
            open_ones = (index for index in range(first, end) if index not in decided)
            yield Round(planned=end, indexes=open_ones, still_wanted=missing)

    def ended(self, *, stopped: bool) -> RunStatus:
        """The run is finished with all its records, interrupted, or failed: nothing is left to try."""
        status: RunStatus = "finished" if self.progress.missing() <= 0 else "interrupted" if stopped else "failed"
        self.progress.status = status
        return status

    def failed(self, error: BaseException) -> RunStatus:
        """Any error interrupts the run."""
        del error
        return "interrupted"


def primed_screening(opened: OpenedRun) -> Screening:
    """Create the screening of a run and feed it the records accepted so far, so that it recognizes duplicates of them."""
    config = opened.config
    screening = Screening(config, opened.provider.model, templates_of(config), opened.bank)
    for record in iter_records(opened.store, run_id=opened.run.id, status="generated"):
        screening.prime(record)
    return screening
