"""Optional OpenTelemetry spans of a run: one for each item, with one below it for each call.

Needs the extra ``otel`` and is off unless asked for. OpenTelemetry's own environment variables decide where spans go; without
them nothing is sent anywhere. Like events, spans contain stages, items, codes, counts and costs, never a prompt or a reply. The
tracer is private: no global provider is set, since SDKs that find one would add spans of their own with unknown content.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any

from piiloom.execution.watching.events import EventSink
from piiloom.foundation.errors import UsageError, how_to_install

EXPORTER = "OTEL_TRACES_EXPORTER"
_GROUP = "opentelemetry_traces_exporter"
_INSTALL = f"Install the extra: {how_to_install('otel')}"


@contextmanager
def telemetry(run_id: str, *, provider: str, model: str) -> Iterator[EventSink]:
    """Yield a sink that turns a run's events into spans, sent to the exporter that ``OTEL_TRACES_EXPORTER`` names.

    At the end, open spans are ended and all spans are exported. Raises ``UsageError`` if OpenTelemetry is not installed, or if no
    exporter or an unknown one is named.
    """
    try:
        exporter = _exporter()
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

        from piiloom.execution.watching.spans import SpanSink  # noqa: PLC0415
    except ImportError as error:
        raise UsageError("OpenTelemetry's SDK is not installed", where="--otel", remedy=_INSTALL) from error
    name = os.environ.get("OTEL_SERVICE_NAME") or "piiloom"
    traces = TracerProvider(resource=Resource.create({SERVICE_NAME: name}), shutdown_on_exit=False)
    traces.add_span_processor(BatchSpanProcessor(exporter))
    sink = SpanSink(traces.get_tracer("piiloom"), run_id, provider=provider, model=model)
    try:
        yield sink
    finally:
        sink.close(time.time_ns())
        traces.shutdown()


def check_telemetry() -> None:
    """Raise the ``UsageError`` that ``telemetry`` would; call it before a run is created."""
    _exporter_class()
    if find_spec("opentelemetry.sdk") is None:
        raise UsageError("OpenTelemetry's SDK is not installed", where="--otel", remedy=_INSTALL)


def _exporter() -> Any:
    """Create the exporter that the environment names."""
    name, made = _exporter_class()
    # The console exporter must not write to standard output, which is for results.
    return made(out=sys.stderr) if name == "console" else made()


def _exporter_class() -> tuple[str, Any]:
    """Return the name of the exporter that the environment names, and its class from OpenTelemetry's entry points."""
    name = os.environ.get(EXPORTER, "").strip()
    if not name or name == "none":
        raise UsageError(
            "no destination for spans is set",
            where="--otel",
            remedy=f"Set {EXPORTER}=console, or =otlp with OTEL_EXPORTER_OTLP_ENDPOINT",
        )
    found = {point.name: point for point in entry_points(group=_GROUP)}
    if name not in found:
        known = f"Known are: {', '.join(sorted(found))}. Others come with their package, such as opentelemetry-exporter-otlp"
        raise UsageError(f"no exporter {name!r} is installed", where=EXPORTER, remedy=known if found else _INSTALL)
    try:
        return name, found[name].load()
    except ImportError as error:
        raise UsageError("OpenTelemetry's SDK is not installed", where="--otel", remedy=_INSTALL) from error
