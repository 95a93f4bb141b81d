"""Events about calls and items, for observers of a run: a live view, JSON lines, metrics, OpenTelemetry spans.

Events contain stages, item ids, codes and counts, but never the text of a prompt or reply, and no key. Order of the events of one
call: each try is ``CallStarted``, then ``CallAnswered`` or ``CallFailed`` (``final`` False: it is tried again). A reply
from the journal is ``CallReplayed`` alone. ``CallJudged`` follows an answer of either kind; for a paid answer that cannot be used, it
has the error's code. An item is ``StageEntered``, then ``StagePassed`` or ``ItemRejected``. Work done once per pair or topic
is an item of its stage, named by its key.

Creating an event takes less than a microsecond.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from piiloom.foundation.noop import noop

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A try of a call is about to be sent. ``try_number`` counts from 1; ``attempt`` from 0, as in ``PromptCall``."""

    stage: str
    item_id: str
    attempt: int
    try_number: int = 1


@dataclass(frozen=True, slots=True)
class CallAnswered:
    """A paid reply arrived. ``cached_tokens`` are part of ``input_tokens``; ``cost_usd`` is None if it is not known."""

    stage: str
    item_id: str
    attempt: int
    latency_s: float
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float | None
    retries: int


@dataclass(frozen=True, slots=True)
class CallReplayed:
    """The reply came from the journal; nothing was sent."""

    stage: str
    item_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class CallFailed:
    """A try got no reply. ``final``: it is not retried. ``code`` as in the journal (rate_limited, unavailable …)."""

    stage: str
    item_id: str
    attempt: int
    code: str
    final: bool


@dataclass(frozen=True, slots=True)
class CallJudged:
    """The stage's verdict on a reply; ``code`` of the fault, or None if it was accepted."""

    stage: str
    item_id: str
    attempt: int
    accepted: bool
    code: str | None


@dataclass(frozen=True, slots=True)
class StageEntered:
    """An item has entered a stage."""

    stage: str
    item_id: str


@dataclass(frozen=True, slots=True)
class StagePassed:
    """An item has passed a stage and goes on."""

    stage: str
    item_id: str


@dataclass(frozen=True, slots=True)
class ItemRejected:
    """A stage has rejected an item."""

    stage: str
    item_id: str
    code: str


@dataclass(frozen=True, slots=True)
class RecordAccepted:
    """An item has become a record."""

    item_id: str
    record_id: str


@dataclass(frozen=True, slots=True)
class Braked:
    """The server has asked for a pause: nothing is sent for *seconds*."""

    seconds: float


CallEvent = CallStarted | CallAnswered | CallReplayed | CallFailed | CallJudged
Event = CallEvent | StageEntered | StagePassed | ItemRejected | RecordAccepted | Braked
EventSink = Callable[[Event], None]


def fan_out(*sinks: EventSink) -> EventSink:
    """Return a sink that passes each event to all *sinks*, or ``noop`` if none of them listens.

    A sink that raises is dropped with a warning, since an observer must not end the run.
    """
    listening = [sink for sink in sinks if sink is not noop]
    if not listening:
        return noop

    def tell(event: Event) -> None:
        for sink in tuple(listening):
            try:
                sink(event)
            except Exception as error:  # noqa: BLE001 - a failing observer must not stop paid calls
                listening.remove(sink)
                # Log the class only: the message of an unknown exception could quote a prompt or a key.
                _LOG.warning("event sink %s was removed: it failed with %s", _name(sink), type(error).__name__)

    return tell


def _name(sink: EventSink) -> str:
    return getattr(sink, "__qualname__", type(sink).__name__)
