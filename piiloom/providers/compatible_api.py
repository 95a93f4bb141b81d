"""Chat completions (``POST <base URL>/chat/completions``) on any compatible server: vLLM, Ollama, llama.cpp, gateways.

It uses the OpenAI SDK, but sends nothing of the user's OpenAI account to the server: the key, organization and project headers
are left out even if the environment sets them.

Servers do not all support the same fields. They differ in ``response_format`` (json_schema; json_object with a schema beside it, as in
llama.cpp; json_object alone; none), in the name of the output limit and how high it may be, in whether they accept a ``seed`` and a system
message, and in whether they answer as a stream only. The variant, a ``Dialect``, is set by the user or found by a probe (``format_probe``)
before a run. Otherwise the provider starts with the richest variant and falls back to a simpler one when an error names the unsupported
field. A 400, 413 or 422 is taken as proof. After a 404 or a 500 that names the field (as llama.cpp sends) the fallback is kept only if the
simpler request succeeds, because the server may simply be failing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import httpx2
import openai

from piiloom.foundation.lenient_json import without_thoughts
from piiloom.providers.protocol import JsonSchema, Message, PromptCall, TokenUsage
from piiloom.providers.replies import SchemaCache, format_name, schema_instruction, strict_schema
from piiloom.providers.sampling import with_sampling
from piiloom.providers.sdk_errors import REFUSED, is_certain, read_error_body, read_fault, status_of
from piiloom.providers.sdk_provider import SdkOptions, SdkProvider, SdkReply, as_count, part, parts

FormatKind = Literal["json_schema", "json_object", "json_object_bare", "plain"]
# Value of ``--response-format`` -> the format to start with.
CHOICES: dict[str, FormatKind] = {"auto": "json_schema", "json_schema": "json_schema", "json_object": "json_object", "text": "plain"}

_NEXT_FORMAT: dict[FormatKind, FormatKind] = {
    "json_schema": "json_object",
    "json_object": "json_object_bare",
    "json_object_bare": "plain",
}
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
        if status not in REFUSED | _PERHAPS_REFUSED:
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


@SchemaCache
def _response_format(name: str, schema: JsonSchema) -> Mapping[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": format_name(name), "schema": strict_schema(schema), "strict": True}}


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


# The SDK requires a key; servers that need none ignore it.
NO_KEY = "not-needed"
# Three format changes, one each of the limit's name, the limit, the seed, the system role and the stream, and the request itself.
_MAX_TRIES = 9
# Finish reasons, OpenAI's and others': of replies that were cut (Mistral, Gemini, Z.ai), that were declined (Z.ai, Gemini), and that the
# server broke off (OpenRouter, vLLM and SGLang, Z.ai, DeepSeek).
_CUT = frozenset({"length", "max_tokens", "model_length", "model_context_window_exceeded"})
_DECLINED = frozenset({"content_filter", "sensitive", "safety", "recitation", "blocklist", "prohibited_content", "spii"})
_BROKEN_OFF = frozenset({"error", "abort", "network_error", "insufficient_system_resource"})
# Dialects found by probes, by endpoint and model, for the lifetime of the process.
_FOUND: dict[tuple[str, str], Dialect] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatTrial:
    """Result of one request in a format: a reply and the dialect that got it, or the HTTP status of a refusal."""

    kind: FormatKind
    reply: SdkReply | None = None
    dialect: Dialect | None = None
    status: int | None = None


class CompatibleProvider(SdkProvider[openai.AsyncOpenAI]):
    """Provider for any chat completions server. ``dialect`` is the request variant that the server supports, as far as known."""

    name = "compatible"
    path = "/chat/completions"
    failure = openai.OpenAIError
    http_class = openai.DefaultAsyncHttpxClient
    sdk = openai.AsyncOpenAI

    def __init__(self, options: SdkOptions) -> None:
        """A response format other than "auto" is never replaced by another one."""
        super().__init__(options)
        begin = Dialect(reply_format=CHOICES[options.response_format], fixed=options.response_format != "auto")
        self.dialect = begin if begin.fixed else _FOUND.get((self.endpoint, self.model), begin)

    def request_body(self, call: PromptCall, messages: Sequence[Message]) -> dict[str, Any]:
        """Return the body of ``POST /chat/completions`` in the current dialect."""
        return self._body(self.dialect, call, messages)

    def read_body(self, body: object) -> SdkReply:
        """Return the reply in *body*, whatever its finish reason.

        Raises the SDK's status error for an error that came with a success status (as gateways send it), ``ProviderUnavailable`` for a
        reply that the server broke off, and ``InvalidRequest`` if *body* is no response of this API.
        """
        choice = next(iter(parts(body, "choices")), None)
        message = part(choice, "message")
        error = part(body, "error") or part(choice, "error")
        if message is None and error is None and (stated := part(part(body, "base_resp"), "status_msg")):
            error = {"type": stated}  # MiniMax
        elif isinstance(error, str) and (kind := part(body, "error_type")):
            error = {"message": error, "type": kind}  # TGI
        if isinstance(error, Mapping):
            raise self._status_error(error)
        if message is None:
            raise self.translator.not_our_api(body)
        finish = str(part(choice, "finish_reason") or "stop")
        end = finish.casefold().partition(":")[0]
        if end in _BROKEN_OFF:
            raise self.translator.unavailable(f"the server broke off the reply ({finish})", maybe_billed=True)
        refusal = part(message, "refusal")
        refused = bool(refusal) or end in _DECLINED
        return SdkReply(
            text=str(refusal or _text(message)),
            model=str(part(body, "model") or ""),
            usage=_usage(part(body, "usage")),
            finish_reason="refusal" if refused else finish,
            outcome="refused" if refused else "truncated" if end in _CUT else "answered",
            note=finish if end in _CUT | _DECLINED else "",
        )

    def _parsed(self, answer: object) -> object:
        """Return the JSON of *answer*; a stream of events, which nobody asked for, is put together."""
        if isinstance(answer, str) and answer.lstrip().startswith(("data:", "event:", ":")):
            return _of_stream(answer)
        return super()._parsed(answer)

    def _status_error(self, error: Mapping[str, Any]) -> openai.APIStatusError:
        """Return *error* as the exception that the SDK raises for a response with the error's status."""
        headers = part(part(error, "metadata"), "headers")
        sent = {str(name): str(value) for name, value in headers.items()} if isinstance(headers, Mapping) else {}
        response = httpx2.Response(status_of(error), headers=sent, request=httpx2.Request("POST", self.endpoint))
        return openai.APIStatusError("an error with a success status", response=response, body=error)

    def _connect(self, **options: Any) -> openai.AsyncOpenAI:
        key = options["api_key"] or NO_KEY
        headers = {"Authorization": f"Bearer {key}", "OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
        if "api-version" in options["default_query"]:  # Azure's classic addresses take the key in a header of their own
            headers["api-key"] = key
            options["http_client"].event_hooks["request"].append(_leave_bearer_out)
        return super()._connect(**{**options, "api_key": key, "default_headers": headers})

    def _body(self, dialect: Dialect, call: PromptCall, messages: Sequence[Message]) -> dict[str, Any]:
        wanted = call.settings.max_output_tokens
        limit = self.spec.output_limit(wanted)
        limit = limit if dialect.roomy else min(limit, wanted)
        body = dialect.request(call, messages, model=self.model, limit=limit)
        return with_sampling(body, call.settings)

    @property
    def probed(self) -> bool:
        """Whether a probe in this process has found the server's dialect."""
        return (self.endpoint, self.model) in _FOUND

    def adopt(self, dialect: Dialect) -> None:
        """Use *dialect* from now on, also in providers for this endpoint and model that this process creates later."""
        self.dialect = _FOUND[self.endpoint, self.model] = replace(dialect, fixed=False)

    async def try_format(self, kind: FormatKind, call: PromptCall) -> FormatTrial:
        """Send *call* in the format *kind*, ignoring the current dialect.

        Raises the same errors as ``complete`` if no HTTP status came back.
        """
        messages = call.render()

        async def work() -> FormatTrial:
            try:
                reply, dialect = await self._exchange(Dialect(reply_format=kind, fixed=True), call, messages)
            except openai.APIStatusError as error:
                return FormatTrial(kind=kind, status=error.status_code)
            return FormatTrial(kind=dialect.reply_format, reply=reply, dialect=dialect)

        return await self.guarded(work(), prompt=[message.content for message in messages])

    async def _ask(self, call: PromptCall, messages: Sequence[Message]) -> SdkReply:
        reply, _ = await self._exchange(self.dialect, call, messages)
        return reply

    async def _exchange(self, tried: Dialect, call: PromptCall, messages: Sequence[Message]) -> tuple[SdkReply, Dialect]:
        """Send the request in the dialect *tried*, then in simpler ones as long as an error names an unsupported field.

        Returns the reply and the dialect that got it.
        """
        failed: openai.APIStatusError | None = None
        for _ in range(_MAX_TRIES - 1):
            try:
                reply = await self._post(self._body(tried, call, messages))
            except openai.APIStatusError as error:
                if (unusable := self._invalid_json(error)) is not None:
                    return unusable, tried
                fault = read_fault(error)
                simpler = tried.after_refusal(fault.status, f"{fault.code}: {fault.message}")
                if simpler is None:
                    raise failed or error from None
                if not is_certain(fault.status):
                    failed = failed or error
                tried = self._learnt(tried, simpler, settled=failed is None)
            else:
                if failed is not None and tried.fixed == self.dialect.fixed:
                    self.dialect = tried
                return reply, tried
        return await self._post(self._body(tried, call, messages)), tried

    def _learnt(self, tried: Dialect, simpler: Dialect, *, settled: bool) -> Dialect:
        """Return the dialect to try next; if the refusal is *settled* (certain), ``self.dialect`` is updated at once."""
        if settled and self.dialect == tried:
            self.dialect = simpler
        # A concurrent call may have found a simpler dialect in the meantime; it is used.
        return simpler if tried.fixed or not settled else self.dialect

    def _invalid_json(self, error: openai.APIStatusError) -> SdkReply | None:
        """Return the reply in an error that says that the model wrote no valid JSON, as Groq answers it; None for other errors."""
        code, message = read_error_body(error.body)
        written = part(error.body, "failed_generation")
        if error.status_code != 400 or (written is None and code != "json_validate_failed"):
            return None
        cut = "max completion tokens" in message.casefold()
        return SdkReply(
            text=str(written or ""),
            model=self.model,
            usage=TokenUsage(),
            finish_reason="json_validate_failed",
            outcome="truncated" if cut else "answered",
        )

    async def _look_up_model(self) -> bool | None:
        try:
            listed = await self.client.models.list()
        except openai.APIStatusError as error:
            if error.status_code in {404, 405, 501}:
                return None
            raise
        names = [getattr(entry, "id", None) for entry in getattr(listed, "data", None) or ()]
        return self.model in names if names else None


async def _leave_bearer_out(request: httpx2.Request) -> None:
    # The SDK insists on this header.
    del request.headers["Authorization"]


def _text(message: object) -> str:
    """Return the answer in *message*: its content, the text parts of one, or else the arguments of a tool call.

    A reply without an answer gives its thoughts, as an open thought. Thoughts that are JSON are an answer, which a server took for
    thoughts.
    """
    content = part(message, "content")
    if isinstance(content, list):
        content = "".join(str(part(piece, "text") or "") for piece in content if part(piece, "type") in {"text", "output_text"})
    called = (part(message, "function_call"), *(part(call, "function") for call in parts(message, "tool_calls")))
    arguments = [json.dumps(given) if isinstance(given, Mapping) else given for given in (part(call, "arguments") for call in called)]
    answer = next((str(found) for found in (content, *arguments) if found and without_thoughts(str(found)).strip()), "")
    thoughts = str(part(message, "reasoning_content") or part(message, "reasoning") or "")
    if answer or not thoughts.strip():
        return answer or str(content or "")
    return thoughts if thoughts.lstrip().startswith(("{", "[", "```")) else f"<think>{thoughts}"


def _of_stream(events: str) -> object:
    """Return the response that *events* (server-sent, of chat completions) make; raises ``ValueError`` if the end is missing."""
    lines = [line.removeprefix("data:").strip() for line in events.splitlines() if line.startswith("data:")]
    chunks = [json.loads(line) for line in lines if line and line != "[DONE]"]
    message = {"content": "", "reasoning_content": ""}
    found: dict[str, object] = {}
    for chunk in chunks:
        choice = next(iter(parts(chunk, "choices")), None)
        if part(chunk, "error") or part(choice, "error"):
            return chunk
        piece = part(choice, "delta") or part(choice, "message")
        message["content"] += _text({"content": part(piece, "content")})
        message["reasoning_content"] += str(part(piece, "reasoning_content") or part(piece, "reasoning") or "")
        found |= {name: value for name in ("model", "usage") if (value := part(chunk, name) or part(choice, name))}
        found |= {"finish_reason": value} if (value := part(choice, "finish_reason")) else {}
    if "finish_reason" not in found:
        raise ValueError("the stream ends before the reply does")
    return {**found, "choices": [{"message": message, "finish_reason": found["finish_reason"]}]}


def _usage(usage: object) -> TokenUsage:
    """Return the token usage; ``prompt_tokens`` already includes cached tokens."""
    details = part(usage, "prompt_tokens_details")
    return TokenUsage(
        input=as_count(part(usage, "prompt_tokens")),
        cached=as_count(part(details, "cached_tokens")),
        output=as_count(part(usage, "completion_tokens")),
    )
