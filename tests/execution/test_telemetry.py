"""OpenTelemetry: spans as the SDK exports them, and nothing sent without the user's word."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

sdk = pytest.importorskip("opentelemetry.sdk.trace")

from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: E402 - an extra
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter  # noqa: E402
from opentelemetry.trace import SpanKind, StatusCode, get_tracer_provider  # noqa: E402

from piiloom.execution.watching.events import (  # noqa: E402
    Braked,
    CallAnswered,
    CallFailed,
    CallJudged,
    CallReplayed,
    CallStarted,
    ItemRejected,
    RecordAccepted,
    StageEntered,
    StagePassed,
    fan_out,
)
from piiloom.execution.watching.spans import SpanSink  # noqa: E402
from piiloom.execution.watching.telemetry import EXPORTER, telemetry  # noqa: E402
from piiloom.foundation.errors import UsageError  # noqa: E402


@pytest.fixture
def spans():
    """A sink and the function that gives the spans it has ended, by name and item."""
    exporter = InMemorySpanExporter()
    traces = sdk.TracerProvider(shutdown_on_exit=False)
    traces.add_span_processor(SimpleSpanProcessor(exporter))
    sink = SpanSink(traces.get_tracer("test"), "r0001", provider="openai", model="m-1")
    yield sink, exporter.get_finished_spans
    traces.shutdown()


def answered(stage="question", item="3", attempt=0, cost_usd=0.5):
    return CallAnswered(stage, item, attempt, 0.2, 100, 40, 10, cost_usd, 1)


def test_an_item_is_a_trace_with_a_span_for_each_call(spans):
    sink, ended = spans
    for event in (
        StageEntered("peripheral", "3"),
        CallStarted("peripheral", "3/0", 0, 1),
        CallStarted("peripheral", "3/1", 0, 1),
        answered("peripheral", "3/1"),
        answered("peripheral", "3/0"),
        CallJudged("peripheral", "3/0", 0, accepted=False, code="leak"),
        StagePassed("peripheral", "3"),
        RecordAccepted("3", "abc"),
    ):
        sink(event)
    second, first, item = ended()
    assert (item.name, item.parent, first.name, first.kind) == ("item 3", None, "chat m-1", SpanKind.CLIENT)
    assert first.parent.span_id == second.parent.span_id == item.context.span_id
    assert dict(first.attributes) == {
        "piiloom.run": "r0001",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m-1",
        "piiloom.stage": "peripheral",
        "piiloom.item": "3/0",
        "piiloom.attempt": 0,
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "piiloom.cached_tokens": 40,
        "piiloom.retries": 1,
        "piiloom.cost_usd": 0.5,
    }
    assert [event.name for event in item.events] == ["stage entered", "verdict", "stage passed"]
    assert dict(item.events[1].attributes) == {
        "piiloom.stage": "peripheral",
        "piiloom.attempt": 0,
        "piiloom.accepted": False,
        "piiloom.code": "leak",
    }
    assert (item.attributes["piiloom.outcome"], item.attributes["piiloom.record"]) == ("accepted", "abc")


def test_tries_of_a_call_are_events_of_its_one_span(spans):
    sink, ended = spans
    for number, code in enumerate(("rate_limited", "unavailable"), 1):
        sink(CallStarted("question", "3", 0, number))
        sink(CallFailed("question", "3", 0, code, final=False))
    sink(Braked(1.5))
    sink(CallStarted("question", "3", 0, 3))
    sink(CallFailed("question", "3", 0, "unknown_outcome", final=True))
    sink(ItemRejected("question", "3", "provider_unavailable"))
    call, item = ended()
    assert [event.name for event in call.events] == ["retry", "retry", "brake"]
    assert (call.attributes["error.type"], call.status.status_code) == ("unknown_outcome", StatusCode.ERROR)
    assert item.attributes["piiloom.outcome"] == "rejected"


def test_a_replayed_reply_is_told_apart(spans):
    sink, ended = spans
    sink(CallReplayed("topics", "age+health", 0))
    (call,) = ended()
    assert call.attributes["piiloom.replayed"] is True


def test_closing_ends_what_is_open(spans):
    sink, ended = spans
    sink(CallStarted("question", "3", 0, 1))
    sink(CallStarted("subtopics", "age+health/night shifts", 0, 1))
    sink.close(time.time_ns())
    assert sorted(span.name for span in ended()) == ["chat m-1", "chat m-1", "item 3", "item age+health/night shifts"]


def test_nothing_is_sent_unless_the_user_says_where(monkeypatch):
    monkeypatch.delenv(EXPORTER, raising=False)
    with pytest.raises(UsageError, match="no destination for spans is set"), telemetry("r0001", provider="p", model="m"):
        pass


def test_an_unknown_exporter_is_named_with_those_there_are(monkeypatch):
    monkeypatch.setenv(EXPORTER, "smoke-signals")
    with pytest.raises(UsageError, match=r"no exporter 'smoke-signals' is installed.*console"), telemetry("r", provider="p", model="m"):
        pass


def test_spans_go_to_the_exporter_of_the_environment_and_no_global_provider_is_set(monkeypatch, capfd):
    monkeypatch.setenv(EXPORTER, "console")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "my set")
    before = get_tracer_provider()
    with telemetry("r0001", provider="p", model="m") as sink:
        told = fan_out(sink)
        told(CallStarted("question", "3", 0, 1))
        told(answered())
    out, err = capfd.readouterr()
    assert out == ""
    assert '"chat m"' in err
    assert '"item 3"' in err
    assert '"my set"' in err
    assert get_tracer_provider() is before


def test_without_the_sdk_the_error_says_what_to_install():
    code = """
import sys
sys.modules["opentelemetry.sdk.resources"] = None
from piiloom.execution.watching.telemetry import telemetry
try:
    with telemetry("r", provider="p", model="m"):
        pass
except Exception as error:
    print(type(error).__name__, error)
"""
    env = os.environ | {EXPORTER: "console"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    remedy = "Install the extra: pip install -e '.[otel]' in a clone of piiloom"
    assert done.stdout == f"UsageError --otel: OpenTelemetry's SDK is not installed. {remedy}\n"


def test_the_module_imports_nothing_of_opentelemetry_by_itself():
    code = "import sys, piiloom.execution.watching.telemetry; print([m for m in sys.modules if m.startswith('opentelemetry')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
