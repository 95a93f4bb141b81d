"""SDK exceptions and HTTP status codes, translated to ``providers.errors``.

=====================================================  =======================
time-out, connection refused or lost, 408, 409, 5xx     ``ProviderUnavailable``
a body that is not JSON (a proxy's page, a cut answer)  ``ProviderUnavailable``
429                                                     ``RateLimited``
429 insufficient_quota, 402, exhausted credit           ``BudgetExceeded``
401, 403                                                ``AuthFailed``
any other 4xx                                           ``InvalidRequest``
=====================================================  =======================

Both SDKs name their exceptions alike, so they are told apart by what they carry and neither SDK is imported here. What
the server says is shown only after ``redaction``: servers echo keys and prompts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol, cast

from foundation.errors import ProviderError
from providers.errors import AuthFailed, BudgetExceeded, InvalidRequest, ProviderUnavailable, RateLimited
from providers.redaction import Redactor

# Codes and phrases by which servers say that money, not patience, is missing.
_NO_MONEY = (
    "insufficient_quota",
    "billing_hard_limit",
    "billing_error",
    "spend_limit_reached",
    "credit balance is too low",
    "insufficient_funds",
)
_TRANSIENT = frozenset({408, 409, 425})


class ErrorResponse(Protocol):
    """The HTTP response that an error status came with."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The response's headers; names in any case."""
        ...


class StatusError(Protocol):
    """What the status errors of both SDKs have in common."""

    status_code: int
    body: object

    @property
    def response(self) -> ErrorResponse:
        """The response itself."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFault:
    """What a server answered instead of a completion: HTTP status, machine-readable code, its own words."""

    status: int
    code: str = ""
    message: str = ""
    retry_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Translator:
    """Turns failures of one provider into errors that name it, its endpoint and the next step."""

    provider: str
    endpoint: str
    redactor: Redactor
    key_variable: str
    unreachable_remedy: str
    missing_path_remedy: str

    def translate(self, error: Exception, *, model: str, prompt: Sequence[str] = ()) -> ProviderError:
        """The error to raise for *error*, which an SDK raised."""
        if hasattr(error, "status_code") and hasattr(error, "response"):
            return self.from_status(read_fault(cast("StatusError", error)), model=model, prompt=prompt)
        if isinstance(error, ValueError):
            return self.unavailable("the server's answer is not JSON")
        return self.from_connection(error)

    def from_connection(self, error: Exception) -> ProviderUnavailable:
        """The error for a request that got no whole answer."""
        cause = error.__cause__
        kind = type(cause or error).__name__
        if "Timeout" in type(error).__name__:
            return self.unavailable("no answer came in time", remedy="Raise the time-out or lower the concurrency")
        if kind in {"ConnectError", "UnsupportedProtocol"}:
            return self.unavailable("the server cannot be reached", remedy=self.unreachable_remedy)
        return self.unavailable(f"the connection was lost before the whole answer arrived ({kind})")

    def unavailable(self, message: str, *, remedy: str | None = None, retry_after: float | None = None) -> ProviderUnavailable:
        """A ``ProviderUnavailable`` that names provider and endpoint."""
        return ProviderUnavailable(f"{self.provider}: {message}", where=self.endpoint, remedy=remedy, retry_after=retry_after)

    def invalid(self, message: str, *, remedy: str | None = None) -> InvalidRequest:
        """An ``InvalidRequest`` that names provider and endpoint."""
        return InvalidRequest(f"{self.provider}: {message}", where=self.endpoint, remedy=remedy)

    def not_our_api(self, response: object) -> InvalidRequest:
        """The error for a success that is no answer of this API: a web page, or another server's idea of an error."""
        stated = getattr(response, "error", None)
        said = self.redactor.presentable(": ".join(part for part in read_error_body(stated) if part)) if stated else ""
        tail = f": {said}" if said else ""
        return self.invalid(f"the answer is not one of this API{tail}", remedy=self.missing_path_remedy)

    def from_status(self, fault: ServerFault, *, model: str, prompt: Sequence[str] = ()) -> ProviderError:
        """The error for an answer with an error status."""
        said = self._said(fault, prompt)
        if fault.status == 402 or is_out_of_money(fault):
            message = f"{self.provider}: the account has no money or quota left{said}"
            return BudgetExceeded(message, where=self.endpoint, remedy="Add credit or raise the limit, then resume the run")
        if fault.status in {401, 403}:
            what = "the key was refused" if fault.status == 401 else "the key lacks the right to do this"
            return AuthFailed(f"{self.provider}: {what} ({fault.status}){said}", where=self.endpoint, remedy=f"Check {self.key_variable}")
        if fault.status == 429:
            message = f"{self.provider}: too many requests (429){said}"
            return RateLimited(message, retry_after=fault.retry_after, where=self.endpoint, remedy="Lower the concurrency")
        if fault.status >= 500 or fault.status in _TRANSIENT:
            return self.unavailable(f"the server failed ({fault.status}){said}", retry_after=fault.retry_after)
        if fault.status in {404, 405}:
            return self._not_found(fault, model, said)
        return self.invalid(f"the request was refused ({fault.status}){said}", remedy="Check the model and its settings")

    def _not_found(self, fault: ServerFault, model: str, said: str) -> InvalidRequest:
        """404: either the model or the path is unknown."""
        if model in fault.message or "model" in f"{fault.code} {fault.message}".casefold():
            return self.invalid(
                f"there is no model {model!r} here ({fault.status}){said}", remedy="Check --model, and that the key may use it"
            )
        return self.invalid(f"there is no such path on the server ({fault.status}){said}", remedy=self.missing_path_remedy)

    def _said(self, fault: ServerFault, prompt: Sequence[str]) -> str:
        """The server's own code and words, made fit to show, as a tail to a message."""
        shown = self.redactor.presentable(": ".join(part for part in (fault.code, fault.message) if part), prompt=prompt)
        return f": {shown.rstrip('.')}" if shown else ""


def is_out_of_money(fault: ServerFault) -> bool:
    """Whether waiting will not help because there is nothing left to pay with."""
    told = f"{fault.code} {fault.message}".casefold()
    return fault.status in {400, 403, 429} and any(sign in told for sign in _NO_MONEY)


def read_fault(error: StatusError) -> ServerFault:
    """What *error*, an SDK's status error, says; bodies come in many shapes."""
    response = error.response
    code, message = read_error_body(error.body)
    return ServerFault(status=int(error.status_code), code=code, message=message, retry_after=read_retry_after(response.headers))


def read_error_body(body: object) -> tuple[str, str]:
    """Code and message from an error body.

    Known shapes: ``{"error": {"code", "type", "message", "details"}}`` or its inside (OpenAI, Anthropic), ``{"error": "…"}``
    and ``{"message": "…"}`` (Ollama, gateways), ``{"detail": …}`` (FastAPI), plain text.
    """
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if not isinstance(inner, Mapping):
            return "", str(inner)
        details = inner.get("details")
        detail_code = details.get("error_code") if isinstance(details, Mapping) else None
        code = next((str(c) for c in (detail_code, inner.get("code"), inner.get("type")) if c and not isinstance(c, int)), "")
        message = inner.get("message") or inner.get("detail") or ""
        return code, message if isinstance(message, str) else str(message)
    text = "" if body is None else str(body)
    return "", "" if text.lstrip().startswith("<") else text


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as the server asks: ``retry-after-ms``, or ``retry-after`` in seconds or as an HTTP date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        # Neither "nan" nor "inf" nor a negative number is a wait.
        return seconds if 0 <= seconds < float("inf") else None
    return _until(headers.get("retry-after"), headers.get("date"))


def _until(moment: str | None, sent: str | None) -> float | None:
    """Seconds from the server's own *sent* date (or now) to *moment*, both HTTP dates."""
    if not moment:
        return None
    try:
        then = parsedate_to_datetime(moment)
        start = parsedate_to_datetime(sent) if sent else datetime.now(UTC)
        return max(0.0, (then - start).total_seconds())
    except (TypeError, ValueError):
        return None
