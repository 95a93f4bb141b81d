"""Turn events into OpenTelemetry spans. Imported by ``piiloom.execution.watching.telemetry`` only, as it needs the extra ``otel``."""

from __future__ import annotations

import time

from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.util.types import AttributeValue

from piiloom.execution.watching.events import (
    Braked,
    CallAnswered,
    CallFailed,
    CallJudged,
    CallReplayed,
    CallStarted,
    Event,
    ItemRejected,
    RecordAccepted,
    StageEntered,
    StagePassed,
)

CallName = tuple[str, str, int]


class SpanSink:
    """An event sink: each item is a trace of its own, with a child span for each call.

    A call's span lasts from its first try to its reply or last failure; retries are span events of it. Verdicts and stages are span
    events of the item. Attribute names follow OpenTelemetry's semantic conventions for generative AI where there are any.
    """

    def __init__(self, tracer: Tracer, run_id: str, *, provider: str, model: str) -> None:
        self._tracer, self._run_id = tracer, run_id
        self._asked = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model}
        self._items: dict[str, Span] = {}
        self._calls: dict[CallName, Span] = {}

    def __call__(self, event: Event) -> None:
        """Start, annotate or end the span of *event*."""
        now = time.time_ns()
        if isinstance(event, Braked):
            for span in self._calls.values():
                span.add_event("brake", {"piiloom.seconds": event.seconds}, now)
        elif isinstance(event, CallStarted | CallAnswered | CallReplayed | CallFailed):
            self._tell_call(event, now)
        else:
            self._tell_item(event, now)

    def _tell_call(self, event: CallStarted | CallAnswered | CallReplayed | CallFailed, now: int) -> None:
        name = (event.stage, event.item_id, event.attempt)
        match event:
            case CallStarted():
                self._open_call(name, now)  # the first try opens it
            case CallReplayed():
                span = self._call(*name, now)
                span.set_attribute("piiloom.replayed", value=True)
                span.end(now)
            case CallAnswered():
                _answered(event, self._open_call(name, now - int(event.latency_s * 1e9)))
                self._calls.pop(name).end(now)
            case CallFailed(code=code, final=False):
                self._open_call(name, now).add_event("retry", {"error.type": code}, now)
            case CallFailed(code=code):
                span = self._open_call(name, now)
                span.set_attribute("error.type", code)
                span.set_status(Status(StatusCode.ERROR))
                self._calls.pop(name).end(now)

    def _tell_item(self, event: CallJudged | StageEntered | StagePassed | ItemRejected | RecordAccepted, now: int) -> None:
        span = self._item(event.item_id, now)
        match event:
            case CallJudged(stage=stage, attempt=attempt, accepted=accepted, code=code):
                attributes: dict[str, AttributeValue] = {"piiloom.stage": stage, "piiloom.attempt": attempt, "piiloom.accepted": accepted}
                span.add_event("verdict", attributes | ({"piiloom.code": code} if code else {}), now)
            case StageEntered(stage=stage):
                span.add_event("stage entered", {"piiloom.stage": stage}, now)
            case StagePassed(stage=stage):
                span.add_event("stage passed", {"piiloom.stage": stage}, now)
            case ItemRejected(stage=stage, code=code):
                span.set_attributes({"piiloom.outcome": "rejected", "piiloom.stage": stage, "piiloom.code": code})
                self._end_item(event.item_id, now)
            case RecordAccepted(record_id=record_id):
                span.set_attributes({"piiloom.outcome": "accepted", "piiloom.record": record_id})
                self._end_item(event.item_id, now)

    def close(self, now: int) -> None:
        """End all open spans at *now* (nanoseconds since the epoch): unanswered calls, and items neither accepted nor rejected."""
        for span in (*self._calls.values(), *self._items.values()):
            span.end(now)
        self._calls.clear()
        self._items.clear()

    def _item(self, item_id: str, now: int) -> Span:
        """Return the open span of an item, started now if there is none; a part such as ``12/0`` belongs to item 12."""
        name = _whole(item_id)
        span = self._items.get(name)
        if span is None:
            about = {"piiloom.run": self._run_id, "piiloom.item": name}
            span = self._items[name] = self._tracer.start_span(f"item {name}", attributes=about, start_time=now)
        return span

    def _open_call(self, name: CallName, now: int) -> Span:
        """Return the open span of a call, started now if there is none."""
        span = self._calls.get(name)
        if span is None:
            span = self._calls[name] = self._call(*name, now)
        return span

    def _call(self, stage: str, item_id: str, attempt: int, now: int) -> Span:
        about: dict[str, AttributeValue] = {"piiloom.stage": stage, "piiloom.item": item_id, "piiloom.attempt": attempt}
        return self._tracer.start_span(
            f"chat {self._asked['gen_ai.request.model']}",
            context=set_span_in_context(self._item(item_id, now)),
            kind=SpanKind.CLIENT,
            attributes={"piiloom.run": self._run_id, **self._asked, **about},
            start_time=now,
        )

    def _end_item(self, item_id: str, now: int) -> None:
        self._items.pop(_whole(item_id)).end(now)


def _answered(event: CallAnswered, span: Span) -> None:
    span.set_attribute("gen_ai.usage.input_tokens", event.input_tokens)
    span.set_attribute("gen_ai.usage.output_tokens", event.output_tokens)
    span.set_attribute("piiloom.cached_tokens", event.cached_tokens)
    span.set_attribute("piiloom.retries", event.retries)
    if event.cost_usd is not None:
        span.set_attribute("piiloom.cost_usd", event.cost_usd)


def _whole(item_id: str) -> str:
    """Return the id of the item that *item_id* names or is a part of (``12`` for ``12/0``)."""
    head = item_id.partition("/")[0]
    return head if head.isdecimal() else item_id
