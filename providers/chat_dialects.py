"""What a chat completions server understands, found out by asking.

Servers that call themselves OpenAI-compatible differ in ``response_format`` (json_schema, json_object with a schema beside it
as llama.cpp has it, json_object alone, none at all), in the name of the output limit, and in whether they take a ``seed``. What a
server takes is found by a probe (``format_probe``) before a run, or is set; else the provider begins with the most and steps down
when a request comes back naming what was not understood. A 400 or 422 says so for certain. After a 404 or a 500 that names it (as
llama.cpp answers) the simpler request must succeed: the server may just be failing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from piiloom.providers.protocol import JsonSchema, Message, PromptCall
from piiloom.providers.schema_cache import SchemaCache
from piiloom.providers.schemas import format_name, plain, strict_schema

FormatKind = Literal["json_schema", "json_object", "json_object_bare", "plain"]
# What ``--response-format`` says, and the format that it begins with.
CHOICES: dict[str, FormatKind] = {"auto": "json_schema", "json_schema": "json_schema", "json_object": "json_object", "text": "plain"}

_NEXT_FORMAT: dict[FormatKind, FormatKind] = {
    "json_schema": "json_object",
    "json_object": "json_object_bare",
    "json_object_bare": "plain",
}
_REFUSED = frozenset({400, 422})
_PERHAPS_REFUSED = frozenset({404, 405, 415, 500, 501})
# By these words servers say that the format of the reply is what they do not take (llama.cpp and vLLM speak of grammars).
_FORMAT_SIGNS = (
    "response_format",
    "response format",
    "json_schema",
    "json schema",
    "json_object",
    "grammar",
    "guided",
    "structured output",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How requests to one server are put. A ``fixed`` format is not given up, but for a schema beside json_object."""

    reply_format: FormatKind = "json_schema"
    fixed: bool = False
    limit_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seeded: bool = True

    def after_refusal(self, status: int, message: str) -> Dialect | None:
        """The dialect to try after an answer of *status* that says *message*; None when another dialect would not help."""
        if status not in _REFUSED | _PERHAPS_REFUSED:
            return None
        said = message.casefold()
        if status in _PERHAPS_REFUSED:
            return self._with_simpler_format(said)
        if self.limit_name == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit_name="max_completion_tokens")
        if self.seeded and "seed" in said.replace("'", " ").replace('"', " ").split():
            return replace(self, seeded=False)
        return self._with_simpler_format(said)

    def _with_simpler_format(self, said: str) -> Dialect | None:
        if self.reply_format == "plain" or not any(sign in said for sign in _FORMAT_SIGNS):
            return None
        if self.fixed and self.reply_format != "json_object":
            return None
        return replace(self, reply_format=_NEXT_FORMAT[self.reply_format])

    def request(self, call: PromptCall, messages: Sequence[Message], *, model: str, limit: int) -> dict[str, Any]:
        """The body of the request. Without a schema the server enforces, the schema goes into the system message."""
        body: dict[str, Any] = {"model": model, self.limit_name: limit}
        turns = [{"role": message.role, "content": message.content} for message in messages]
        if self.reply_format == "json_schema":
            body["response_format"] = _response_format(call.schema_name, call.schema)
        else:
            turns = _with_instruction(turns, schema_instruction(call.schema_name, call.schema))
        if self.reply_format == "json_object":
            schema = _response_format(call.schema_name, call.schema)["json_schema"]["schema"]
            body["response_format"] = {"type": "json_object", "schema": schema}
        elif self.reply_format == "json_object_bare":
            body["response_format"] = {"type": "json_object"}
        if self.seeded and call.settings.seed is not None:
            body["seed"] = call.settings.seed
        return {**body, "messages": turns}


def is_certain(status: int) -> bool:
    """Whether an answer of *status* that names what was not understood settles it; else the simpler request must succeed."""
    return status in _REFUSED


@SchemaCache
def _response_format(name: str, schema: JsonSchema) -> Mapping[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": format_name(name), "schema": strict_schema(schema), "strict": True}}


def schema_instruction(name: str, schema: JsonSchema) -> str:
    """The sentence that asks for JSON of *schema* in words."""
    wanted = json.dumps(plain(schema), ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else. It must match this JSON schema ({format_name(name)}):\n{wanted}"


def _with_instruction(turns: list[dict[str, str]], instruction: str) -> list[dict[str, str]]:
    """*turns* with *instruction* at the end of the first system message, which is made when there is none."""
    for index, turn in enumerate(turns):
        if turn["role"] == "system":
            extended = {"role": "system", "content": f"{turn['content']}\n\n{instruction}"}
            return [*turns[:index], extended, *turns[index + 1 :]]
    return [{"role": "system", "content": instruction}, *turns]
