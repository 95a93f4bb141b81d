"""Report how many items each stage of a run has passed and rejected, and why."""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.progress import count_attempts, count_by_furthest_stage, count_reasons, load_shared_results
from piiloom.corpus.store.records import count_records
from piiloom.corpus.store.runs import RunRow
from piiloom.generation.settings.setting_checks import make_config
from piiloom.generation.stages import screen, subtopics, topics
from piiloom.generation.stages.pipeline import item_stages, stage_names


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLine:
    """The counts of one stage: items done (pairs or topics for the first two stages), rejects by reason, stored replies by verdict.

    For an unpaid provider, only refused replies are stored.
    """

    stage: str
    done: int
    rejected: int
    reasons: dict[str, int]
    replies: dict[str, int]


def report_stages(store: Store, run: RunRow) -> list[StageLine]:
    """List the stages of *run* in pipeline order."""
    config = make_config(run.config)
    names = [stage.name for stage in item_stages(config.recipe, config.judges)]
    furthest = count_by_furthest_stage(store, run.id, names)
    # An item that has passed a stage has passed all before it.
    done = {name: sum(furthest.get(later, 0) for later in names[place:]) for place, name in enumerate(names)}
    for shared in (topics.NAME, subtopics.NAME):
        done[shared] = sum(text != "[]" for text in load_shared_results(store, run.id, shared).values())
    done[screen.NAME] = count_records(store, run_id=run.id, status="generated")
    reasons, replies = count_reasons(store, run.id), count_attempts(store, run.id)
    return [
        StageLine(
            stage=name,
            done=done[name],
            rejected=sum(reasons.get(name, {}).values()),
            reasons=reasons.get(name, {}),
            replies=replies.get(name, {}),
        )
        for name in stage_names(config.recipe, config.judges)
    ]
