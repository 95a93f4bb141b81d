"""The request and response bodies of the three LLM APIs, as ``llm_server`` reads and writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from piiloom.providers.format_probe import QUESTION
from piiloom.providers.protocol import TokenUsage

Api = Literal["responses", "chat", "messages"]

PATHS: dict[str, Api] = {"/v1/responses": "responses", "/v1/chat/completions": "chat", "/v1/messages": "messages"}
BAD_KEY = "bad-key"
CACHE_KEY_CHARS = 64
_EPHEMERAL = {"type": "ephemeral"}
# Whoever has no schema in the request finds it in the prompt, as ``piiloom.providers.compatible_api.schema_instruction`` puts it.
_INSTRUCTION = re.compile(r"JSON schema \(([\w-]+)\):\n(\{.*)\Z", re.DOTALL)
_PLAIN: dict[str, Any] = {"name": "", "schema": {}}  # what is wanted where a plain text is
_SAMPLING = ("temperature", "top_p", "top_k")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a caller asked for, in terms common to the three APIs. ``ordinal`` counts requests from 0 as they arrive.

    Who wants a plain text has no ``schema``, and "" as its name.
    """

    api: Api
    model: str
    system: str
    user: str
    schema_name: str
    schema: dict[str, Any]
    ordinal: int


class BadCall(Exception):
    """A request the real API would refuse."""

    def __init__(self, status: int, kind: str, message: str, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.code = code


def whole_body(handler: BaseHTTPRequestHandler) -> bytes:
    """The body of the request that *handler* has.

    Raises:
        ConnectionAbortedError: the client was gone before it had sent all of it; a server acts on no part of a request.
    """
    length = int(handler.headers.get("content-length", 0))
    body = handler.rfile.read(length)
    if len(body) < length:
        raise ConnectionAbortedError(f"{len(body)} of {length} bytes came")
    return body


def read_request(path: str, headers: Mapping[str, str], body: Mapping[str, Any], ordinal: int, chat_formats: frozenset[str]) -> Request:
    """The request in *body*; ``BadCall`` where the API of *path* would refuse it."""
    api = PATHS.get(path.partition("?")[0])
    if api is None:
        raise BadCall(404, "not_found_error", "Not Found")
    key = headers.get("x-api-key") or (headers.get("authorization") or "").removeprefix("Bearer ")
    if not key or key == BAD_KEY:
        raise BadCall(401, "authentication_error", f"Incorrect API key provided: {key}", code="invalid_api_key")
    for name in _SAMPLING:
        if name in body and not _takes_sampling(api, body):
            raise BadCall(400, "invalid_request_error", f"Unsupported parameter: '{name}' is not supported with this model.")
    reader = {"responses": _read_responses, "chat": _read_chat, "messages": _read_messages}[api]
    system, user, name, schema = reader(body, chat_formats)
    return Request(api=api, model=str(body["model"]), system=system, user=user, schema_name=name, schema=schema, ordinal=ordinal)


def _takes_sampling(api: Api, body: Mapping[str, Any]) -> bool:
    """As the makers have it: Anthropic never, OpenAI from models that do not reason, other servers always."""
    return api == "chat" or (api == "responses" and body.get("reasoning", {}).get("effort") == "none")


Parsed = tuple[str, str, str, dict[str, Any]]


def is_probe(body: Mapping[str, Any]) -> bool:
    """Whether a chat request asks only which response format is taken."""
    turns = body.get("messages") or ()
    return bool(turns) and isinstance(turns, list) and turns[-1].get("content") == QUESTION


def asks_for_json(body: Mapping[str, Any]) -> bool:
    """Whether the prompt of a chat request asks for JSON in words."""
    return any(_INSTRUCTION.search(str(turn["content"])) for turn in body["messages"])


def _read_responses(body: Mapping[str, Any], _: frozenset[str]) -> Parsed:
    wanted = body["text"]["format"] if "text" in body else _PLAIN
    _need(body, "max_output_tokens")
    if body.get("store") is not False:
        raise BadCall(400, "invalid_request_error", "this test server keeps nothing: send store=false")
    _check_strict(wanted["schema"])
    key = body.get("prompt_cache_key", "")
    if not isinstance(key, str) or len(key) > CACHE_KEY_CHARS:
        raise BadCall(400, "invalid_request_error", f"Invalid 'prompt_cache_key': string of at most {CACHE_KEY_CHARS} expected")
    return str(body.get("instructions") or ""), _user(body["input"]), wanted["name"], wanted["schema"]


def _read_chat(body: Mapping[str, Any], chat_formats: frozenset[str]) -> Parsed:
    system = "\n\n".join(turn["content"] for turn in body["messages"] if turn["role"] == "system")
    user = _user(turn for turn in body["messages"] if turn["role"] != "system")
    wanted = body.get("response_format")
    if wanted and wanted["type"] not in chat_formats:
        raise BadCall(400, "BadRequestError", f"response_format.type {wanted['type']} is not supported by this server")
    if wanted and wanted["type"] == "json_schema":
        _check_strict(wanted["json_schema"]["schema"])
        return system, user, wanted["json_schema"]["name"], wanted["json_schema"]["schema"]
    found = _INSTRUCTION.search(system)
    if found is None:
        if wanted:
            raise BadCall(400, "invalid_request_error", "'messages' must contain the word 'json' in some form")
        return system, user, "", {}
    return system, user, found.group(1), json.loads(found.group(2))


def _read_messages(body: Mapping[str, Any], _: frozenset[str]) -> Parsed:
    _need(body, "max_tokens")
    schema = body["output_config"]["format"]["schema"] if "format" in body.get("output_config", ()) else {}
    if schema and schema.get("additionalProperties") is not False:
        raise BadCall(400, "invalid_request_error", "output_config.format.schema: additionalProperties must be false")
    if any(turn["role"] not in {"user", "assistant"} for turn in body["messages"]) or body["messages"][-1]["role"] != "user":
        raise BadCall(400, "invalid_request_error", "messages: roles must be user and assistant, ending with user")
    return _system(body.get("system") or ""), _user(body["messages"]), schema.get("title", ""), schema


def _system(system: Any) -> str:
    """The text of a system prompt, given as a string or as text blocks, of which any may be marked for caching."""
    if isinstance(system, str):
        return system
    for block in system:
        if block.get("type") != "text" or not block.get("text"):
            raise BadCall(400, "invalid_request_error", "system: text content blocks must be non-empty")
        if block.get("cache_control", _EPHEMERAL)["type"] != "ephemeral":
            raise BadCall(400, "invalid_request_error", "system.0.cache_control.type: Input should be 'ephemeral'")
    return "\n\n".join(block["text"] for block in system)


def _user(turns: Any) -> str:
    return "\n\n".join(turn["content"] for turn in turns)


def _need(body: Mapping[str, Any], name: str) -> None:
    if not isinstance(body.get(name), int):
        raise BadCall(400, "invalid_request_error", f"{name}: Field required")


def _check_strict(schema: Mapping[str, Any]) -> None:
    """Strict mode: closed objects, every property required (checked at every depth)."""
    if "properties" in schema:
        if schema.get("additionalProperties") is not False:
            raise BadCall(400, "invalid_request_error", "Invalid schema: 'additionalProperties' is required to be false.")
        if set(schema.get("required", ())) != set(schema["properties"]):
            raise BadCall(400, "invalid_request_error", "Invalid schema: 'required' must include every key in properties.")
    items = [schema["items"]] if "items" in schema else []
    for part in (*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), *items):
        _check_strict(part)


def error_body(api: str, kind: str, message: str, *, code: str = "") -> dict[str, Any]:
    """An error as the maker of *api* words it."""
    if api == "messages":
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_test"}
    return {"error": {"message": message, "type": kind, "param": None, "code": code or None}}


def as_text(answer: Mapping[str, Any] | str) -> str:
    """The reply that *answer*, JSON data or a plain text, is sent as."""
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def reply_body(request: Request, data: str, kind: str) -> dict[str, Any]:
    """The response to *request* whose reply is the text *data*, JSON mostly, spoilt as the fault *kind* says."""
    spoilt = {
        "bad_json_reply": f"Sure! {data[:-1]}",
        "fenced": f"Here you are:\n```json\n{data}\n```\n",
        "truncation": data[: len(data) // 2],
    }
    text = spoilt.get(kind, data)
    tokens = (12 + len(request.system + request.user) // 4, 1 + len(text) // 4)
    build = {"responses": _responses_reply, "chat": _chat_reply, "messages": _messages_reply}[request.api]
    return build(request, text, kind, tokens)


def _responses_reply(request: Request, text: str, kind: str, tokens: tuple[int, int]) -> dict[str, Any]:
    refused = kind == "refusal"
    answer = {"type": "output_text", "text": text, "annotations": []}
    part = {"type": "refusal", "refusal": "I can't help with that."} if refused else answer
    cut = kind == "truncation"
    return {
        "id": f"resp_{request.ordinal}",
        "object": "response",
        "created_at": 0,
        "model": request.model,
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]},
        ],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": tokens[0],
            "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
            "output_tokens": tokens[1],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": sum(tokens),
        },
    }


def _chat_reply(request: Request, text: str, kind: str, tokens: tuple[int, int]) -> dict[str, Any]:
    refused = kind == "refusal"
    message = {"role": "assistant", "content": None if refused else text, "refusal": "I can't help with that." if refused else None}
    finish = "length" if kind == "truncation" else "stop"
    return {
        "id": f"chatcmpl-{request.ordinal}",
        "object": "chat.completion",
        "created": 0,
        "model": request.model,
        "choices": [{"index": 0, "finish_reason": finish, "message": message, "logprobs": None}],
        "usage": {
            "prompt_tokens": tokens[0],
            "completion_tokens": tokens[1],
            "total_tokens": sum(tokens),
            "prompt_tokens_details": {"cached_tokens": 4},
        },
    }


def _messages_reply(request: Request, text: str, kind: str, tokens: tuple[int, int]) -> dict[str, Any]:
    stop = {"refusal": "refusal", "truncation": "max_tokens"}.get(kind, "end_turn")
    return {
        "id": f"msg_{request.ordinal}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [] if kind == "refusal" else [{"type": "text", "text": text}],
        "stop_reason": stop,
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": "general_harms", "explanation": None} if kind == "refusal" else None,
        "usage": {
            "input_tokens": tokens[0] - 6,
            "cache_read_input_tokens": 4,
            "cache_creation_input_tokens": 2,
            "output_tokens": tokens[1],
        },
    }


def usage_of(body: Mapping[str, Any]) -> TokenUsage:
    """The tokens that a response says it took, in common terms: what was cached or written is part of the input."""
    said = body["usage"]
    if "prompt_tokens" in said:
        return TokenUsage(
            input=said["prompt_tokens"], cached=said["prompt_tokens_details"]["cached_tokens"], output=said["completion_tokens"]
        )
    if "input_tokens_details" in said:
        more = said["input_tokens_details"]
        cached, written, given = more["cached_tokens"], more["cache_write_tokens"], said["input_tokens"]
    else:
        cached, written = said["cache_read_input_tokens"], said["cache_creation_input_tokens"]
        given = said["input_tokens"] + cached + written
    return TokenUsage(input=given, cached=cached, cache_write=written, output=said["output_tokens"])
