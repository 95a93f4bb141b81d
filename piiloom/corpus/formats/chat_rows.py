"""Rows of conversational training sets: ``{"messages": [{"role", "content"}, …]}`` with system, user and assistant."""

from __future__ import annotations

from collections.abc import Sequence

from piiloom.corpus.formats.base import Json, ReadTally
from piiloom.corpus.formats.native_rows import RowFault

# Fields of a record that no row for a language model stores.
LOST_FIELDS = ("id", "revision", "locale", "span ids", "subtype", "value_id", "subject", "plan", "source", "group_keys", "provenance")
# A loss of a span that has such a type.
UNKNOWN_TYPE = "its type is not among the known ones: reading would refuse the row"

_ROLES = (["user", "assistant"], ["system", "user", "assistant"], ["developer", "user", "assistant"])


def chat_row(system: str, user: str, assistant: str) -> Json:
    """Return a conversation of three messages."""
    contents = {"system": system, "user": user, "assistant": assistant}
    return {"messages": [{"role": role, "content": content} for role, content in contents.items()]}


def read_chat(row: Json, tally: ReadTally) -> tuple[str, str]:
    """Return what the user and the assistant say in *row*; raises ``RowFault`` for any other kind of conversation."""
    tally.ignored_fields.update(key for key in row if key != "messages")
    messages = row.get("messages")
    if not isinstance(messages, list) or [_role(message) for message in messages] not in _ROLES:
        raise RowFault("messages: not one message of the user and one of the assistant, with or without one of the system before")
    user, assistant = _contents(messages[-2:])
    return user, assistant


def _role(message: object) -> object:
    return message.get("role") if isinstance(message, dict) else None


def _contents(messages: Sequence[dict[str, object]]) -> list[str]:
    contents: list[str] = []
    for message in messages:
        content = message.get("content")
        if not isinstance(content, str):
            raise RowFault(f"messages: the content of the {message['role']} is not a text")
        contents.append(content)
    return contents
