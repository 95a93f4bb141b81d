"""Store prompts in the journal, with the first try of each call. System prompts are stored once, since many calls share them."""

from __future__ import annotations

from typing import Any

from piiloom.execution.call_entries import text_sha256
from piiloom.execution.call_request import Request
from piiloom.execution.committing import Batch


class PromptNotes:
    """Builds the prompt part of journal entries and remembers which system prompts are stored already."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def entry(self, request: Request, batch: Batch) -> dict[str, Any]:
        """Return the prompt as the entry of a first try holds it: the system prompt's SHA-256, the user text and the schema name.

        A system prompt that is not stored yet is added to *batch*.
        """
        system = "\n\n".join(message.content for message in request.messages if message.role == "system")
        user = "\n\n".join(message.content for message in request.messages if message.role != "system")
        return {"system": self._name(system, batch) if system else None, "user": user, "schema_name": request.call.schema_name}

    def _name(self, system: str, batch: Batch) -> str:
        name = text_sha256(system)
        if name not in self._known:
            self._known.add(name)
            batch.prompts.append((name, system))
        return name
