"""Variants of the chat completions request, since OpenAI-compatible servers do not all support the same fields.

They differ in ``response_format`` (json_schema; json_object with a schema beside it, as in llama.cpp; json_object alone; none),
in the name of the output limit and how high it may be, in whether they accept a ``seed`` and a system message, and in whether they
answer as a stream only. The variant is set by the user or found by a probe (``format_probe``) before a run. Otherwise the provider
starts with the richest variant and falls back to a simpler one when an error names the unsupported field. A 400, 413 or 422 is
taken as proof. After a 404 or a 500 that names the field (as llama.cpp sends) the fallback is kept only if the simpler request
succeeds, because the server may simply be failing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from piiloom.providers.protocol import JsonSchema, Message, PromptCall
from piiloom.providers.replies import SchemaCache, as_json_types, format_name, strict_schema

FormatKind = Literal["json_schema", "json_object", "json_object_bare", "plain"]
# Value of ``--response-format`` -> the format to start with.
CHOICES: dict[str, FormatKind] = {"auto": "json_schema", "json_schema": "json_schema", "json_object": "json_object", "text": "plain"}

_NEXT_FORMAT: dict[FormatKind, FormatKind] = {
    "json_schema": "json_object",
    "json_object": "json_object_bare",
    "json_object_bare": "plain",
}
_REFUSED = frozenset({400, 413, 422})
_PERHAPS_REFUSED = frozenset({404, 405, 415, 500, 501})
# Words in an error message that mean that the server does not support the reply format (llama.cpp and vLLM mention grammars).
_FORMAT_SIGNS = (
    "response_format",
    "response format",
    "schema",
    "json_object",
    "grammar",
    "guided",
    "structured output",
)
# Words in an error message that mean that the output limit is above what the model or its context takes.
# Groq counts it against the limit of a minute.
_LIMIT_SIGNS = ("max_tokens", "max_completion_tokens", "max_new_tokens", "maximum context length", "context size", "tokens per min")
# Words in an error message that mean that the server answers this request as a stream only (DashScope, ModelScope, Fireworks).
_STREAM_SIGNS = ("stream=true", "stream=false", "stream mode", "non-streaming", "非流式")
# Words in an error message of a chat template that has no place for a system message (Gemma, early Mistral, Gemini's endpoint).
_SYSTEM_SIGNS = (
    "system role",
    "role 'system'",
    "role system",
    "role: system",
    "system message",
    "system prompt",
    "roles must alternate",
    "only user and assistant roles",
    "developer instruction",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The request variant used with one server.

    ``fixed``: the user chose the format, so there is no fallback to another one; only json_object may drop its schema.
    ``limit_name`` is the field for the output limit; ``roomy``: the limit has room for thoughts. ``seeded``: the server accepts a seed;
    ``system``: it accepts a system message, whose text otherwise begins the first user message. ``streamed``: the reply is a stream.
    """

    reply_format: FormatKind = "json_schema"
    fixed: bool = False
    limit_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    roomy: bool = True
    seeded: bool = True
    system: bool = True
    streamed: bool = False

    def after_refusal(self, status: int, message: str) -> Dialect | None:
        """Return the dialect to try after an error with HTTP *status* and *message*; None if no other dialect would help."""
        if status not in _REFUSED | _PERHAPS_REFUSED:
            return None
        said = message.casefold()
        certain = is_certain(status)
        words = said.replace("'", " ").replace('"', " ").split()
        changes: tuple[tuple[bool, dict[str, Any]], ...] = (
            (certain and not self.streamed and _names(said, _STREAM_SIGNS), {"streamed": True}),
            (self.system and _names(said, _SYSTEM_SIGNS), {"system": False}),
            (certain and self.limit_name == "max_tokens" and "max_completion_tokens" in said, {"limit_name": "max_completion_tokens"}),
            (certain and self.roomy and _names(said, _LIMIT_SIGNS), {"roomy": False}),
            (certain and self.seeded and "seed" in words, {"seeded": False}),
        )
        change = next((change for fits, change in changes if fits), None)
        return self._with_simpler_format(said) if change is None else replace(self, **change)

    def _with_simpler_format(self, said: str) -> Dialect | None:
        if self.reply_format == "plain" or not _names(said, _FORMAT_SIGNS):
            return None
        if self.fixed and self.reply_format != "json_object":
            return None
        return replace(self, reply_format=_NEXT_FORMAT[self.reply_format])

    def request(self, call: PromptCall, messages: Sequence[Message], *, model: str, limit: int) -> dict[str, Any]:
        """Return the request body; *limit* is the output limit in tokens.

        Unless the format is json_schema, the schema is also put into the system message.
        """
        body: dict[str, Any] = {"model": model, self.limit_name: limit}
        turns = [{"role": message.role, "content": message.content} for message in messages]
        if call.schema is not None:
            strict = _response_format(call.schema_name, call.schema)
            if self.reply_format == "json_schema":
                body["response_format"] = strict
            else:
                turns = _with_instruction(turns, schema_instruction(call.schema_name, call.schema))
            if self.reply_format == "json_object":
                body["response_format"] = {"type": "json_object", "schema": strict["json_schema"]["schema"]}
            elif self.reply_format == "json_object_bare":
                body["response_format"] = {"type": "json_object"}
        if self.streamed:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if self.seeded and call.settings.seed is not None:
            body["seed"] = call.settings.seed
        return {**body, "messages": turns if self.system else _without_system(turns)}


def _names(said: str, signs: Sequence[str]) -> bool:
    return any(sign in said for sign in signs)


def is_certain(status: int) -> bool:
    """Whether an error with HTTP *status* that names an unsupported field proves it; otherwise the simpler request must succeed."""
    return status in _REFUSED


@SchemaCache
def _response_format(name: str, schema: JsonSchema) -> Mapping[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": format_name(name), "schema": strict_schema(schema), "strict": True}}


def schema_instruction(name: str, schema: JsonSchema) -> str:
    """Return the prompt text that asks for one JSON object matching *schema*."""
    wanted = json.dumps(as_json_types(schema), ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else. It must match this JSON schema ({format_name(name)}):\n{wanted}"


def _with_instruction(turns: list[dict[str, str]], instruction: str) -> list[dict[str, str]]:
    """Return *turns* with *instruction* appended to the first system message; one is added if there is none."""
    for index, turn in enumerate(turns):
        if turn["role"] == "system":
            extended = {"role": "system", "content": f"{turn['content']}\n\n{instruction}"}
            return [*turns[:index], extended, *turns[index + 1 :]]
    return [{"role": "system", "content": instruction}, *turns]


def _without_system(turns: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return *turns* with the text of their system messages at the beginning of the first user message."""
    instruction = "\n\n".join(turn["content"] for turn in turns if turn["role"] == "system")
    rest = [turn for turn in turns if turn["role"] != "system"]
    first = next((place for place, turn in enumerate(rest) if turn["role"] == "user"), None)
    if not instruction or first is None:
        return rest or turns
    joined = {"role": "user", "content": f"{instruction}\n\n{rest[first]['content']}"}
    return [*rest[:first], joined, *rest[first + 1 :]]
