"""``piiloom trace`` and ``piiloom rejects``: how one record was made, and the rejects of a run with their reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from piiloom.cli.options import StoreOptions, run_setting, store_for_reading
from piiloom.cli.terminal import dollars, examples, say_error, say_result, seconds_text, store_option
from piiloom.corpus.store.costs import MEMORY_FOR_SUMS
from piiloom.corpus.store.runs import RowCounts, RunRow, count_rows, get_run
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import setting
from piiloom.foundation.words import counted
from piiloom.generation.running.tracing import Trace, TracedCall, find_trace, report_rejects, stages_of

if TYPE_CHECKING:
    from piiloom.generation.running.tracing import RejectLine

TRACE_EXAMPLES = examples(
    "piiloom trace 3f9a0c", "piiloom trace r0001-1a2b3c4d:17", "piiloom trace last:17 --json", "piiloom trace last:age+health"
)
_INDENT = "      "
_SHOWN_PLAN = ("pair", "topic", "subtopic", "locale", "register", "cue_level", "scenario")


class TraceOptions(StoreOptions):
    """The options of ``piiloom trace``."""

    item: str = setting(
        ...,
        "A record's id or its first six letters or more; RUN:INDEX for a plan item, RUN:KEY for a pair or topic.",
        metavar="ID",
        argument=True,
    )
    run: str | None = setting(None, 'Search in this run only, by its id or "last".', metavar="RUN")


@takes(TraceOptions)
def trace(asked: TraceOptions) -> None:
    """Show how a record or a reject was made: its calls in order, with prompts, replies, retries, verdicts and costs.

    The calls that listed the topics and subtopics of its pair are among them. Prompts and replies are shown in full.
    """
    with store_for_reading(asked.store) as store:
        found = find_trace(store, asked.item, asked.run)
    say_result(asdict(found) | {"cost_usd": found.cost_usd}, *_lines(found), as_json=asked.as_json)


def _lines(trace: Trace) -> Iterator[str]:
    yield f"{trace.run}:{trace.item}"
    yield from (f"  record    {name}, revision {revision}, {status}" for name, revision, status in trace.records)
    if trace.plan:
        shown = {name: trace.plan.get(name) for name in _SHOWN_PLAN}
        yield "  plan      " + ", ".join(f"{name} {_plain(value)}" for name, value in shown.items() if value)
    replies = sum(one["outcome"] == "reply" for call in trace.calls for one in call.tries)
    yield f"  calls     {len(trace.calls):,}, {counted(replies, 'reply')}, {dollars(trace.cost_usd)}"
    shown_systems: dict[str, int] = {}
    for number, call in enumerate(trace.calls, 1):
        yield ""
        yield from _call_lines(number, call, shown_systems)
    yield ""
    yield from _ending(trace)


def _call_lines(number: int, call: TracedCall, shown: dict[str, int]) -> Iterator[str]:
    yield f"  [{number}] {call.stage} · {call.item_id} · attempt {call.attempt + 1}" + (
        f" · paid by {call.paid_by}" if call.paid_by else ""
    )
    if call.system and call.system in shown:
        yield f"    system prompt: as in [{shown[call.system]}]"
    elif call.system:
        shown[call.system] = number
        yield from _text("system prompt", call.system)
    yield from _text("user prompt", call.user)
    for one in call.tries:
        yield from _try_lines(one)
    yield from (f"    verdict: {_verdict(verdict)}" for verdict in call.verdicts)


def _try_lines(one: Mapping[str, Any]) -> Iterator[str]:
    at = f", sent {one['at']}" if one.get("at") else ""
    if one["outcome"] == "open":
        where = f"it waits in batch {one['batch']}" if one.get("batch") else "no outcome on record: it may have been paid for"
        yield f"    try {one['try']}{at}: {where}"
    elif one["outcome"] == "failed":
        billed = f"; it may have been billed, {dollars(one.get('charge_usd') or 0.0)} set aside" if one.get("maybe_billed") else ""
        last = "" if one.get("final") is not False else "; not the last try"
        yield f"    try {one['try']}{at}: {one.get('code')}: {one.get('message') or '(text purged)'}{billed}{last}"
    else:
        cost = one.get("cost_usd")
        tokens = f"{one.get('input', 0):,} tokens in ({one.get('cached', 0):,} cached), {one.get('output', 0):,} out"
        price = "price unknown" if cost is None else dollars(cost)
        how = "batch" if one.get("batch") else seconds_text(one.get("latency_s"))
        yield f"    try {one['try']}{at}: answered by {one.get('model')} · {how} · {tokens} · {price} · {one.get('finish_reason')}"
        if one.get("error"):
            yield f"    unusable: {one['error']}"
        yield from _text("reply", one.get("reply"))


def _ending(trace: Trace) -> Iterator[str]:
    if trace.stages:
        yield f"  stage results kept: {', '.join(one['stage'] for one in trace.stages)}"
        yield from _result_lines(trace.stages)
    for judgement in trace.judgements:
        agrees = "as planned" if judgement["agrees"] else f"planned {judgement['planned']}"
        about = judgement["value_id"] or judgement["span_id"]
        yield f"  judge     {judgement['kind']} {about}: {judgement['verdict']} ({judgement['score']:.2f}, {agrees}): {judgement['reason']}"
    for reject in trace.rejects:
        again = " (lifted: it was tried again)" if reject["lifted"] else ""
        key = f" {reject['key']}" if reject["key"] else ""
        yield f"  rejected  {reject['stage']}{key}: {reject['code']}: {reject['detail']}{again}"
    if trace.records:
        yield "  accepted  all gates passed"
    elif not trace.rejects:
        yield "  open      neither accepted nor rejected so far"


def _result_lines(stages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield lines on the result of the furthest stage, which contains the results of earlier stages."""
    result = stages[-1]["result"]
    for value in result.get("values", ()):
        yield f"    value {value['id']}: {value['entity_type']}, {value['relevance']}: {value['text']}"
    passage = result.get("passage") or result.get("situation")
    if passage:
        yield from _text("text", passage["text"])
    question = result.get("question")
    if question:
        yield from _text("question", question["abstracted"])


def _text(name: str, text: str | None) -> Iterator[str]:
    if text is None:
        yield f"    {name}: (not kept)"
        return
    yield f"    {name}:"
    yield from (f"{_INDENT}{line}" for line in text.split("\n"))


def _verdict(verdict: Mapping[str, Any]) -> str:
    fault = verdict.get("fault")
    if verdict.get("unmet"):
        return f"{verdict['verdict']}, though a wish is unmet: {verdict['unmet']}"
    return f"{verdict['verdict']}: {fault}" if fault else str(verdict["verdict"])


def _plain(value: Any) -> str:
    return "+".join(value) if isinstance(value, list) else str(value)


REJECTS_EXAMPLES = examples(
    "piiloom rejects",
    "piiloom rejects --run r0001-1a2b3c4d --stage question",
    "piiloom rejects --code invalid_request --limit 0",
    "piiloom rejects --run last --json",
)


class RejectsOptions(StoreOptions):
    """The options of ``piiloom rejects``."""

    run: str = run_setting()
    stage: str | None = setting(None, "Only rejects of this stage.", metavar="STAGE")
    code: str | None = setting(None, "Only rejects with this reason code.", metavar="CODE")
    limit: int = setting(20, "Number of rejects to print; 0 prints all.", flags="--limit -n", metavar="N", ge=0)


@takes(RejectsOptions)
def rejects(asked: RejectsOptions) -> None:
    """List the rejects of a run, with stage, reason, calls made, cost, and the command that tries each again.

    The first line is the balance: rows in = accepted + rejected + open. It is counted anew from the store each time.
    """
    with store_for_reading(asked.store, memory_limit=MEMORY_FOR_SUMS) as store:
        run = get_run(store, asked.run)
        rows = count_rows(store, run.id)
        lines = report_rejects(store, run, store_option(asked.store))
    if asked.stage is not None and asked.stage not in (known := stages_of(run, lines)):
        raise UsageError(f"run {run.id} has no stage {asked.stage!r}", where="--stage", remedy=f"Name one of {', '.join(known)}")
    chosen = [line for line in lines if asked.stage in {None, line.stage} and asked.code in {None, line.code}]
    data = {"run": run.id, "status": run.status, "rows": asdict(rows) | {"balanced": rows.balanced}, "rejects": list(map(asdict, chosen))}
    reject_lines = _rejects(chosen, asked.limit, is_part=len(chosen) < len(lines))
    say_result(data, *_balance(run, rows, lines), *reject_lines, as_json=asked.as_json)
    if not rows.balanced:
        say_error(f"run {run.id} does not balance: {rows.twice:,} rows are both accepted and rejected; please report this")
        raise typer.Exit(1)


def _balance(run: RunRow, rows: RowCounts, lines: Sequence[RejectLine]) -> Iterator[str]:
    parts = f"{rows.accepted:,} accepted + {rows.rejected:,} rejected + {rows.open:,} open"
    yield f"run {run.id} {run.status}: {counted(rows.rows_in, 'row')} in {'=' if rows.balanced else '≠'} {parts}"
    reasons = Counter((line.stage, line.code, line.is_row) for line in lines)
    for (stage, code, is_row), number in sorted(reasons.items(), key=lambda found: (not found[0][2], -found[1], found[0])):
        yield f"  {number:>6,}  {stage}: {code}{'' if is_row else '   (of pairs and topics: no rows)'}"


def _rejects(lines: Sequence[RejectLine], limit: int, *, is_part: bool) -> Iterator[str]:
    shown = lines[:limit] if limit else lines
    for line in shown:
        cost = dollars(line.cost_usd) + (f" + {counted(line.unpriced, 'reply')} of unknown price" if line.unpriced else "")
        yield f"\n{line.item}  {line.stage}: {line.code}  {counted(line.calls, 'call')}  {cost}"
        yield from (f"    {more}" for more in (line.detail, line.replay) if more)
    if len(shown) < len(lines):
        yield f"\n… and {len(lines) - len(shown):,} more; --limit 0 prints all"
    if is_part and not lines:
        yield "  no reject matches"
