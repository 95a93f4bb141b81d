"""A call that the journal has no reply to, in the form that senders receive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from piiloom.corpus.store.call_events import CallEvent, EventKind
from piiloom.providers.protocol import Message, PromptCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call that the journal has no reply to: its key, its rendered messages, and their digest."""

    call: PromptCall
    key: str
    messages: Sequence[Message]
    rendered_sha256: str

    def event(self, kind: EventKind, entry: dict[str, Any]) -> CallEvent:
        """Build a journal event of *kind* about this call."""
        call = self.call
        return CallEvent(key=self.key, kind=kind, stage=call.stage, item_id=call.item_id, attempt=call.attempt, entry=entry)
