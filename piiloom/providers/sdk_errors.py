"""Translate SDK exceptions and HTTP status codes to ``piiloom.providers.errors``.

======================================================  ==================================================
time-out, connection lost, 408, 409, 424, 5xx, crash    ``ProviderUnavailable`` (503, 529: ``overloaded``)
body that is not JSON (proxy page, incomplete reply)    ``ProviderUnavailable``
429                                                     ``RateLimited``
429 that names a quota of a day or longer               ``ServerPaused``
402, an error that says that no money is left           ``BudgetExceeded``
401, 403, 400 that mentions the key                     ``AuthFailed``
404, 405 (unknown model, unknown path)                  ``NotServed``
400 that names the model or a sampling setting          ``NotServed``
any other 4xx (prompt too long, filter)                 ``InvalidRequest``
======================================================  ==================================================

Exceptions are recognized by their attributes and class names, which are the same in both SDKs, so neither SDK is imported
here. The server's message is shown only after ``redaction``, because servers echo keys and prompts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from piiloom.foundation.errors import ProviderError
from piiloom.providers.addresses import Redactor
from piiloom.providers.errors import (
    AuthFailed,
    BudgetExceeded,
    InvalidRequest,
    NotServed,
    ProviderUnavailable,
    RateLimited,
    ServerPaused,
)
from piiloom.providers.rate_headers import read_retry_after, stated_wait

# Codes and phrases that mean that the account has no money or quota left, so that waiting does not help.
_NO_MONEY = (
    "insufficient_quota",
    "billing_hard_limit",
    "billing_error",
    "spend_limit_reached",
    "credit balance is too low",
    "insufficient_funds",
    "billing_not_active",
    "api usage limits",
    "budget_exceeded",
    "budget has been exceeded",
    "exceededbudget",
    "exceeded budget",
    "insufficient balance",
    "balance is insufficient",
    "spending limit",
    "余额不足",
    "欠费",
)
_MONEY_STATUSES = frozenset({400, 401, 403, 412, 429, 500})
# Phrases that name a quota of a day or longer, which a run does not wait for.
_LONG_QUOTA = (
    *("per day", "per-day", "perday", "daily", "per week", "weekly", "per month", "/ month", "monthly"),
    *("usage limit reached", "使用上限"),  # five hours, at Z.ai
)
# Codes and phrases of a 400 that mean that the server has no such model (LiteLLM, OpenRouter, vLLM), as others answer with 404.
_NO_MODEL = (
    *("model_not_found", "invalid model name", "not a valid model", "does not exist", "unknown model", "model not found"),
    *("not supported by any provider", "no models loaded", "failed to load model"),
)
# Phrases of a 400 that mean that the server failed (LM Studio).
_CRASHED = ("has crashed", "has unloaded", "model is unloaded", "model unloaded")
_SAMPLING = ("temperature", "top_p")
# Codes and phrases that mean that the prompt is too long (_TOO_LONG) or was refused by a content filter (_FILTERED).
_TOO_LONG = (
    "context_length_exceeded",
    "context length",
    "context window",
    "context limit",
    "context size",
    "prompt is too long",
    "input is too long",
    "request_too_large",
)
_FILTERED = (
    "content_filter",
    "content filter",
    "content_policy",
    "content policy",
    "content management policy",
    "usage polic",
    "usage guidelines",
    "inappropriate content",
    "invalid_prompt",
    "was flagged",
)
_BAD_KEY = ("invalid_api_key", "api_key_invalid", "api key not valid")
_TRANSIENT = frozenset({408, 409, 424, 425})
_OVERLOADED = frozenset({503, 529})
# Exceptions that the HTTP library raises before it sends anything: no connection, none free in the pool, refused by a proxy.
_NOT_CONNECTED = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol"})


# HTTP statuses of errors that come without one: the first whose word is in the error's code or type; 500 for others.
_STATUS_OF = {"rate_limit": 429, "quota": 429, "overloaded": 503, "auth": 401, "not_found": 404, "invalid": 400, "validation": 422}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFault:
    """An error response: HTTP status, machine-readable code, the server's message, and the wait in seconds if given.

    ``retry_after`` is the wait of the headers, ``stated_s`` that of the message.
    """

    status: int
    code: str = ""
    message: str = ""
    retry_after: float | None = None
    stated_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Translator:
    """Turns failures of one provider into errors that name the provider, its endpoint and a remedy."""

    provider: str
    endpoint: str
    redactor: Redactor
    key_variable: str
    unreachable_remedy: str
    missing_path_remedy: str

    def translate(self, error: Exception, *, model: str, prompt: Sequence[str] = ()) -> ProviderError:
        """Return the error to raise for *error*, an SDK's exception or a ``ValueError`` from parsing the response."""
        if hasattr(error, "status_code") and hasattr(error, "response"):
            return self.from_status(read_fault(error), model=model, prompt=prompt)
        if isinstance(error, ValueError):
            return self.unavailable("the server's answer is not JSON", maybe_billed=True)
        return self.from_connection(error)

    def from_connection(self, error: Exception) -> ProviderUnavailable:
        """Return the error for a request that got no complete response."""
        cause = error.__cause__
        kind = type(cause or error).__name__
        if kind in _NOT_CONNECTED:
            return self.unavailable("the server cannot be reached", remedy=self.unreachable_remedy)
        if "Timeout" in type(error).__name__:
            return self.timed_out("no answer came in time")
        return self.unavailable(f"the connection was lost before the whole answer arrived ({kind})", maybe_billed=True)

    def timed_out(self, message: str) -> ProviderUnavailable:
        """Return the error for a request that was sent but not answered in time."""
        return self.unavailable(message, remedy="Raise --timeout or lower --concurrency", maybe_billed=True, timed_out=True)

    def unavailable(
        self,
        message: str,
        *,
        remedy: str | None = None,
        retry_after: float | None = None,
        maybe_billed: bool = False,
        overloaded: bool = False,
        timed_out: bool = False,
    ) -> ProviderUnavailable:
        """Return a ``ProviderUnavailable`` that names provider and endpoint."""
        return ProviderUnavailable(
            f"{self.provider}: {message}",
            where=self.endpoint,
            remedy=remedy,
            retry_after=retry_after,
            maybe_billed=maybe_billed,
            overloaded=overloaded,
            timed_out=timed_out,
        )

    def invalid(self, message: str, *, remedy: str | None = None) -> InvalidRequest:
        """Return an ``InvalidRequest`` that names provider and endpoint."""
        return InvalidRequest(f"{self.provider}: {message}", where=self.endpoint, remedy=remedy)

    def not_our_api(self, response: object) -> ProviderError:
        """Return the error for a response with a success status that is not one of this API: a gateway's error, or a web page."""
        stated = response.get("error") if isinstance(response, Mapping) else None
        if isinstance(stated, Mapping):
            code, message = read_error_body(stated)
            return self.from_status(ServerFault(status=status_of(stated), code=code, message=message), model="")
        said = self.redactor.presentable(": ".join(part for part in read_error_body(stated) if part)) if stated else ""
        tail = f": {said}" if said else ""
        return self.invalid(f"the answer is not one of this API{tail}", remedy=self.missing_path_remedy)

    def from_status(self, fault: ServerFault, *, model: str, prompt: Sequence[str] = ()) -> ProviderError:
        """Return the error for a response with an error status; *prompt* are texts that the message must not quote."""
        said = self._said(fault, prompt)
        if fault.status == 402 or is_out_of_money(fault):
            message = f"{self.provider}: the account has no money or quota left{said}"
            return BudgetExceeded(message, where=self.endpoint, remedy="Add credit or raise the limit, then resume the run")
        if (fault.status in {401, 403} and not _is_filtered(fault)) or _tells(fault, _BAD_KEY, {400}):
            what = "the key lacks the right to do this" if fault.status == 403 else "the key was refused"
            return AuthFailed(f"{self.provider}: {what} ({fault.status}){said}", where=self.endpoint, remedy=f"Check {self.key_variable}")
        if fault.status == 429:
            message = f"{self.provider}: too many requests (429){said}"
            if fault.retry_after is None and _tells(fault, _LONG_QUOTA, {429}):
                return ServerPaused(message, where=self.endpoint)
            wait_s = fault.stated_s if fault.retry_after is None else fault.retry_after
            return RateLimited(message, retry_after=wait_s, where=self.endpoint, remedy="Lower the concurrency")
        if fault.status >= 500 or fault.status in _TRANSIENT or _tells(fault, _CRASHED, {400, 404}):
            overloaded = fault.status in _OVERLOADED
            what = "the server is overloaded" if overloaded else "the server failed"
            return self.unavailable(f"{what} ({fault.status}){said}", retry_after=fault.retry_after, overloaded=overloaded)
        return self._refused(fault, model, said)

    def _refused(self, fault: ServerFault, model: str, said: str) -> InvalidRequest:
        """Return the error for any other 4xx, with a specific remedy if the server's message allows one."""
        what, remedy = "the request was refused", "Check the model and its settings"
        if _is_filtered(fault):
            what = "a content filter of the server refused the prompt"
            remedy = "Other prompts are not affected; change this one's topic or choose another model"
        elif fault.status == 413 or _tells(fault, _TOO_LONG, {400, 422}):
            what = "the prompt is too long for the model"
            remedy = "Shorten the prompt, ask for a shorter answer, or choose a model with a larger context"
        elif fault.status in {404, 405} or _tells(fault, _NO_MODEL, {400}):
            return self._not_served(fault, model, said)
        elif (setting := next((name for name in _SAMPLING if name in fault.message.casefold()), None)) and fault.status in {400, 422}:
            message = f"{self.provider}: the model does not take this {setting} ({fault.status}){said}"
            return NotServed(message, where=self.endpoint, remedy=f"Leave {setting} out of the settings, or choose another value or model")
        return self.invalid(f"{what} ({fault.status}){said}", remedy=remedy)

    def _not_served(self, fault: ServerFault, model: str, said: str) -> NotServed:
        what, remedy = "there is no such path on the server", self.missing_path_remedy
        stated = f"{fault.code} {fault.message}".casefold()
        if (model and model in fault.message) or "model" in stated or "deployment" in stated:
            what, remedy = f"there is no model {model!r} here", "Check --model, and that the key may use it"
        return NotServed(f"{self.provider}: {what} ({fault.status}){said}", where=self.endpoint, remedy=remedy)

    def _said(self, fault: ServerFault, prompt: Sequence[str]) -> str:
        """Return the server's code and message, redacted, as a suffix ``": …"``; empty if there is nothing to show."""
        shown = self.redactor.presentable(": ".join(part for part in (fault.code, fault.message) if part), prompt=prompt)
        return f": {shown.rstrip('.')}" if shown else ""


def is_out_of_money(fault: ServerFault) -> bool:
    """Whether the account has no money or quota left, so that waiting does not help."""
    return _tells(fault, _NO_MONEY, _MONEY_STATUSES)


def _is_filtered(fault: ServerFault) -> bool:
    return _tells(fault, _FILTERED, {400, 403, 422})


def _tells(fault: ServerFault, signs: Sequence[str], statuses: Collection[int]) -> bool:
    """Whether *fault* has one of *statuses* and its code or message contains one of *signs*."""
    told = f"{fault.code} {fault.message}".casefold()
    return fault.status in statuses and any(sign in told for sign in signs)


def status_of(error: Mapping[str, object]) -> int:
    """Return the HTTP status that *error*, which came with a success status, would have had: its code, or by its kind."""
    stated = f"{error.get('code', '')}"
    if stated.isdigit() and 400 <= int(stated) < 600:
        return int(stated)
    kind = f"{stated} {error.get('type', '')}".casefold().replace(" ", "_")
    return next((status for word, status in _STATUS_OF.items() if word in kind), 500)


def read_fault(error: Any) -> ServerFault:
    """Read an SDK's status error. A request that is too large for the limit of a minute is a 413, also where it came as a 429."""
    code, message = read_error_body(error.body)
    status = int(error.status_code)
    return ServerFault(
        status=413 if status == 429 and "request too large" in message.casefold() else status,
        code=code,
        message=message,
        retry_after=read_retry_after(error.response.headers),
        stated_s=stated_wait(" ".join((message, *(f"retry in {delay}" for delay in _values(error.body, "retryDelay"))))),
    )


def read_error_body(body: object) -> tuple[str, str]:
    """Return code and message of an error body; either may be empty.

    Known forms: ``{"error": {"code", "type", "message", "details"}}`` or the inner object (OpenAI, Anthropic), one of them in a list
    (Gemini, Cloudflare), ``{"error": "…"}`` and ``{"message": "…"}`` (Ollama, gateways), ``{"detail": …}`` (FastAPI), plain text. HTML
    is dropped. OpenRouter puts the message of the server behind it into ``metadata.raw``, Google the names of quotas into the details.
    """
    body = body[0] if isinstance(body, list) and body else body
    if isinstance(body, Mapping):
        inner = body.get("error") or body.get("errors") or body
        inner = inner[0] if isinstance(inner, list) else inner
        if not isinstance(inner, Mapping):
            return "", str(inner)
        details = inner.get("details")
        detail_code = details.get("error_code") if isinstance(details, Mapping) else None
        codes = (detail_code, *(inner.get(name) for name in ("code", "type", "status", "error_code")))
        code = next((str(c) for c in codes if c and not isinstance(c, int)), "")
        message = inner.get("message") or inner.get("detail") or inner.get("msg") or ""
        metadata = inner.get("metadata")
        upstream = metadata.get("raw") if isinstance(metadata, Mapping) else None
        return code, ": ".join(str(said) for said in (message, upstream, *_values(details, "quotaId")) if said)
    text = "" if body is None else str(body)
    return "", "" if text.lstrip().startswith("<") else text


def _values(body: object, name: str) -> Iterator[str]:
    """Yield the texts that are called *name* anywhere in *body*."""
    if isinstance(body, Mapping):
        for key, value in body.items():
            if key == name and isinstance(value, str):
                yield value
            yield from _values(value, name)
    elif isinstance(body, list):
        for item in body:
            yield from _values(item, name)


# HTTP statuses that prove that the request was refused for what is in it.
REFUSED = frozenset({400, 413, 422})


def is_certain(status: int) -> bool:
    """Whether an error with HTTP *status* that names an unsupported field proves it; otherwise the simpler request must succeed."""
    return status in REFUSED
