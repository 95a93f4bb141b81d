"""Reports on a run: the items that each stage has passed and rejected, and each reject with its costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piiloom.corpus.store.costs import ItemCalls, calls_by_item, calls_by_key
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import count_records
from piiloom.corpus.store.runs import (
    RejectRow,
    RunRow,
    count_attempts,
    count_by_furthest_stage,
    count_reasons,
    load_rejects,
    load_shared_results,
)
from piiloom.generation.plan.lifting import lost_pairs
from piiloom.generation.running.progress import TRANSIENT_CODES
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectLine:
    """One reject: ``item`` as ``piiloom trace`` takes it, the number of ``calls``, and ``replay``, the command that tries it again.

    ``unpriced`` of its replies have no known price. Only rejects of plan items are rows; those of pairs and topics are not,
    and of these only the ones that found the provider away, or left a pair with nothing, are asked for again (``replay`` is
    None for the others).
    """

    item: str
    is_row: bool
    stage: str
    code: str
    detail: str
    calls: int
    cost_usd: float
    unpriced: int
    replay: str | None


def stages_of(run: RunRow, lines: Sequence[RejectLine]) -> list[str]:
    """Return the stages of *run*, and all others with rejects."""
    named = stage_names(run.config.get("recipe", "staged"), run.config.get("judges") or ())
    return [*named, *sorted({line.stage for line in lines} - set(named))]


def report_rejects(store: Store, run: RunRow, options: str = "") -> list[RejectLine]:
    """Return the rejects of *run* by plan index, those of pairs and topics last. *options* end the commands that try again."""
    taken, lost = calls_by_item(store, run.id), {key for keys in lost_pairs(store, run).values() for key in keys}
    return [_line(row, _taken(store, run, row, taken), run, options, is_lost=row.key in lost) for row in load_rejects(store, run.id)]


def _taken(store: Store, run: RunRow, row: RejectRow, by_item: dict[int, ItemCalls]) -> ItemCalls:
    if row.plan_index is not None:
        return by_item.get(row.plan_index, ItemCalls())
    # An entry dropped from a list ("age+health#3") was not asked for by itself.
    return calls_by_key(store, run.id, row.stage, row.key) if row.key and "#" not in row.key else ItemCalls()


def _line(row: RejectRow, taken: ItemCalls, run: RunRow, options: str, *, is_lost: bool) -> RejectLine:
    is_row = row.plan_index is not None
    again = f" --retry {row.plan_index}" if is_row else "" if row.reason_code in TRANSIENT_CODES else None
    if is_lost:
        again = f" --retry {row.reason_code}"
    return RejectLine(
        item=f"{run.id}:{row.plan_index if is_row else row.key}",
        is_row=is_row,
        stage=row.stage,
        code=row.reason_code,
        detail=row.detail,
        calls=taken.tries,
        cost_usd=taken.cost_usd,
        unpriced=taken.unpriced,
        replay=None if again is None else f"piiloom generate --resume {run.id}{again}{options}",
    )
