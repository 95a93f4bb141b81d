"""How the journal keeps prompts: with the first try of a call, the system prompt apart and once, since calls share it."""

from __future__ import annotations

from typing import Any

from piiloom.execution.call_entries import text_sha256
from piiloom.execution.call_request import Request
from piiloom.execution.committing import Batch


class PromptNotes:
    """Remembers which system prompts have been handed to the store."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def entry(self, request: Request, batch: Batch) -> dict[str, Any]:
        """Give the prompt as the event of a first try holds it; a system prompt that is new goes into *batch*."""
        system = "\n\n".join(message.content for message in request.messages if message.role == "system")
        user = "\n\n".join(message.content for message in request.messages if message.role != "system")
        return {"system": self._name(system, batch) if system else None, "user": user, "schema_name": request.call.schema_name}

    def _name(self, system: str, batch: Batch) -> str:
        name = text_sha256(system)
        if name not in self._known:
            self._known.add(name)
            batch.prompts.append((name, system))
        return name
