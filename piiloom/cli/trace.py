"""``piiloom trace``: every prompt, reply, attempt and verdict of one record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.pace import dollars, seconds_text
from piiloom.cli.reading import store_for_reading
from piiloom.cli.terminal import examples, say, say_json
from piiloom.foundation.counting import counted
from piiloom.generation.running.tracing import Trace, TracedCall, find_trace

EPILOG = examples(
    "piiloom trace 3f9a0c", "piiloom trace r0001-1a2b3c4d:17", "piiloom trace last:17 --json", "piiloom trace last:age+health"
)


def trace(
    wanted: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="A record's id or its first 6 letters or more; RUN:INDEX for a plan item, RUN:KEY for a pair or topic."
        ),
    ],
    store: StoreOption = DEFAULT_STORE,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help='Look for the record in this run only, by its id or "last".')
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show how a record or a reject came about: its calls in order, with prompts, replies, retries, verdicts and costs.

    The calls that listed the topics and subtopics of its pair are among them. Prompts and replies are shown in full.
    """
    print_trace(store, wanted, run_id=run, as_json=as_json)


_INDENT = "      "
_SHOWN_PLAN = ("pair", "topic", "subtopic", "locale", "register", "cue_level", "scenario")


def print_trace(path: Path, wanted: str, *, run_id: str | None, as_json: bool) -> None:
    """Print what *wanted* (a record's id or prefix, or ``run:index``) went through."""
    with store_for_reading(path) as store:
        trace = find_trace(store, wanted, run_id)
    if as_json:
        say_json(asdict(trace) | {"cost_usd": trace.cost_usd})
    else:
        say("\n".join(trace_lines(trace)))


def trace_lines(trace: Trace) -> Iterator[str]:
    """Write *trace* line by line."""
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
    """Show what the furthest stage left; it holds what those before it made."""
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
