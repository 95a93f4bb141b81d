"""What happens while calls are made, for whoever watches: a live view, JSON lines, metrics, OpenTelemetry spans.

Events name stages, items and codes and carry counts; never the text of a prompt or a reply, and no key. The order of
those about one call: each try is ``CallStarted`` and then ``CallAnswered`` or ``CallFailed`` (``final`` False: it will be
tried again); a reply found in the journal is ``CallReplayed`` alone. ``CallJudged`` follows what came in either way; a paid
answer that cannot be used is answered and then judged with its code. An item is ``StageEntered``, and then ``StagePassed`` or
``ItemRejected``; what runs once a pair or topic is an item of its stage, named by its key.

Making an event takes less than a microsecond, but whoever makes millions asks ``sink is unheard`` first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CallStarted:
    """One try of a call leaves. ``try_number`` counts from 1; ``attempt`` from 0, as ``PromptCall`` does."""

    stage: str
    item_id: str
    attempt: int
    try_number: int = 1


@dataclass(frozen=True, slots=True)
class CallAnswered:
    """A reply has come and was paid for. ``cached_tokens`` are part of the input; ``cost_usd`` None: no price is known."""

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
    """The reply was in the journal: nothing was sent."""

    stage: str
    item_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class CallFailed:
    """A try brought no reply; ``final``: it was the last one. ``code`` as the journal names it (rate_limited, unavailable …)."""

    stage: str
    item_id: str
    attempt: int
    code: str
    final: bool


@dataclass(frozen=True, slots=True)
class CallJudged:
    """What the stage's validator made of a reply; ``code`` of the fault, or None when it was accepted."""

    stage: str
    item_id: str
    attempt: int
    accepted: bool
    code: str | None


@dataclass(frozen=True, slots=True)
class StageEntered:
    """An item has come to a stage."""

    stage: str
    item_id: str


@dataclass(frozen=True, slots=True)
class StagePassed:
    """A stage is done with an item, which goes on."""

    stage: str
    item_id: str


@dataclass(frozen=True, slots=True)
class ItemRejected:
    """A stage has given an item up."""

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
    """The server has asked everyone to wait: nothing is sent for this long."""

    seconds: float


CallEvent = CallStarted | CallAnswered | CallReplayed | CallFailed | CallJudged
Event = CallEvent | StageEntered | StagePassed | ItemRejected | RecordAccepted | Braked
EventSink = Callable[[Event], None]


def unheard(_event: Event) -> None:
    """Hear nothing."""


def fan_out(*sinks: EventSink) -> EventSink:
    """Give one sink that tells all of *sinks*; ``unheard`` when none of them listens.

    A sink that raises is left out from then on: whoever watches a run must not end it.
    """
    listening = [sink for sink in sinks if sink is not unheard]
    if not listening:
        return unheard

    def tell(event: Event) -> None:
        for sink in tuple(listening):
            try:
                sink(event)
            except Exception as error:  # noqa: BLE001 - paid calls do not depend on what shows them
                listening.remove(sink)
                # The kind only: the message of an unknown exception could quote anything.
                _LOG.warning("%s no longer watches the run: it failed with %s", _name(sink), type(error).__name__)

    return tell


def _name(sink: EventSink) -> str:
    return getattr(sink, "__qualname__", type(sink).__name__)
