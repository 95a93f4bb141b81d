"""Reports on a run: the trace of a record or a plan item, what each stage has passed and rejected, and each reject with its costs.

A trace has calls, stages, verdicts and rejects, from the journal and the ledger.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from piiloom.corpus.store.call_events import JournalEvent, events_of_item, events_of_key, load_prompts, paid_events
from piiloom.corpus.store.costs import ItemCalls, calls_by_item, calls_by_key
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import count_records
from piiloom.corpus.store.releases import StoredRecord, check_prefix, find_stored, several_records
from piiloom.corpus.store.runs import (
    RejectRow,
    RunRow,
    count_attempts,
    count_by_furthest_stage,
    count_reasons,
    fate_of,
    get_run,
    load_rejects,
    load_shared_results,
    rejects_of_key,
)
from piiloom.foundation.errors import RunError
from piiloom.generation.running.opening import lost_pairs
from piiloom.generation.running.progress import TRANSIENT_CODES
from piiloom.generation.settings.setting_checks import make_config
from piiloom.generation.stages import screen, subtopics, topics
from piiloom.generation.stages.pipeline import item_stages, stage_names
from piiloom.generation.stages.subtopics import topic_key
from piiloom.generation.stages.topics import pair_key


@dataclass(slots=True, kw_only=True)
class TracedCall:
    """One request: its prompt, its tries in order with their outcomes, and the verdicts on its reply.

    ``paid_by`` is the run that paid for the reply if that is another one. A try's ``outcome`` is reply, failed or open.
    """

    key: str
    stage: str
    item_id: str
    attempt: int
    paid_by: str | None = None
    system: str | None = None
    user: str | None = None
    tries: list[dict[str, Any]] = field(default_factory=list)
    verdicts: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The trace of one plan item (or one pair or topic) of a run. Payloads are JSON values."""

    run: str
    item: str
    plan: Mapping[str, Any] | None
    records: Sequence[tuple[str, int, str]]
    calls: Sequence[TracedCall]
    stages: Sequence[Mapping[str, Any]]
    rejects: Sequence[Mapping[str, Any]]
    judgements: Sequence[Mapping[str, Any]]

    @property
    def cost_usd(self) -> float:
        """The cost of the item's replies, also if another run paid; replies of unknown price count nothing."""
        return sum(one.get("cost_usd") or 0.0 for call in self.calls for one in call.tries)


def find_trace(store: Store, wanted: str, run_id: str | None = None) -> Trace:
    """Trace *wanted*. Raises ``UsageError`` for an id that is too short or fits several, ``RunError`` for one that fits none."""
    run_name, colon, item = wanted.rpartition(":")
    if colon:
        run = get_run(store, run_name).id
        return _trace_item(store, run, int(item)) if item.isdecimal() else _trace_key(store, run, item)
    check_prefix(wanted)
    found = _only(store, wanted, find_stored(store, prefix=wanted, run_id=get_run(store, run_id).id if run_id else None))
    if found.run_id is None or found.plan_index is None:
        raise RunError(f"record {found.record.id} was imported", where=str(store.path), remedy="Only generated records have calls")
    return _trace_item(store, found.run_id, found.plan_index)


def _only(store: Store, wanted: str, found: Sequence[StoredRecord]) -> StoredRecord:
    if not found:
        raise RunError(
            f"no record's id begins with {wanted!r}",
            where=str(store.path),
            remedy="Take one from an export, or RUN:INDEX as `piiloom rejects` prints it",
        )
    if len(found) > 1:
        raise several_records(wanted, [f"{item.run_id}:{item.plan_index} ({item.record.id})" for item in found])
    return found[0]


def _trace_item(store: Store, run_id: str, index: int) -> Trace:
    fate = fate_of(store, run_id, index)
    own = events_of_item(store, run_id, index)
    if not fate.is_known and not own:
        raise RunError(f"run {run_id} has no plan item {index}", where=str(store.path), remedy="See piiloom stages list")
    plan = json.loads(fate.plan) if fate.plan else None
    return Trace(
        run=run_id,
        item=str(index),
        plan=plan,
        records=fate.records,
        calls=_calls(store, [*_planning_events(store, run_id, plan), *own]),
        stages=[{"stage": stage, "result": json.loads(payload)} for stage, payload in fate.stages],
        rejects=[_reject(row, lifted) for row, lifted in fate.rejects],
        judgements=fate.judgements,
    )


def _trace_key(store: Store, run_id: str, key: str) -> Trace:
    stage = subtopics.NAME if "/" in key else topics.NAME
    events = events_of_key(store, run_id, stage, key)
    rejects = [_reject(row, lifted) for row, lifted in rejects_of_key(store, run_id, key)]
    if not events and not rejects:
        raise RunError(
            f"run {run_id} has no calls for {key!r}", where=str(store.path), remedy="Pairs are age+health, topics age+health/TOPIC"
        )
    return Trace(run=run_id, item=key, plan=None, records=(), calls=_calls(store, events), stages=(), rejects=rejects, judgements=())


def _planning_events(store: Store, run_id: str, plan: Mapping[str, Any] | None) -> list[JournalEvent]:
    """The calls that listed the topics of the item's pair and the subtopics of its topic."""
    if plan is None:
        return []
    first, second = plan["pair"]
    pair = (first, second)
    listed = events_of_key(store, run_id, topics.NAME, pair_key(pair))
    return [*listed, *events_of_key(store, run_id, subtopics.NAME, topic_key(pair, plan["topic"]))]


def _calls(store: Store, events: Iterable[JournalEvent]) -> list[TracedCall]:
    """Put events together by call, in the order in which the calls came up."""
    calls: dict[str, TracedCall] = {}
    borrowed: dict[str, list[str]] = {}
    for event in events:
        call = calls.setdefault(event.key, TracedCall(key=event.key, stage=event.stage, item_id=event.item_id, attempt=event.attempt))
        if event.kind == "used" and call.paid_by is None:
            call.paid_by = event.entry["from_run"]
            borrowed.setdefault(event.entry["from_run"], []).append(event.key)
        _add(call, event)
    for run_id, keys in borrowed.items():
        for event in paid_events(store, run_id, keys):
            _add(calls[event.key], event)
    prompts = load_prompts(store, [call.system for call in calls.values() if call.system])
    for call in calls.values():
        call.system = prompts.get(call.system) if call.system else None
    return list(calls.values())


def _add(call: TracedCall, event: JournalEvent) -> None:
    """Add *event* to its call."""
    entry = dict(event.entry)
    if event.kind == "sent":
        call.system = entry.pop("system", None) or call.system
        call.user = entry.pop("user", None) or call.user
        call.tries.append({"try": entry.get("try"), "outcome": "open", **entry})
    elif event.kind in {"reply", "failed"}:
        sent = next((one for one in call.tries if one["try"] == entry.get("try") and one["outcome"] == "open"), None)
        if sent is None:
            sent = {"try": entry.get("try")}
            call.tries.append(sent)
        sent |= entry | {"outcome": event.kind}
    elif event.kind == "verdict" and entry not in call.verdicts[-1:]:  # a resumed run judges the same reply again
        call.verdicts.append(entry)


def _reject(row: RejectRow, lifted: bool) -> dict[str, Any]:
    return {
        "stage": row.stage,
        "code": row.reason_code,
        "key": row.key,
        "detail": row.detail,
        "attempts": row.attempts,
        "last_reply": row.last_reply,
        "lifted": lifted,
    }


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
