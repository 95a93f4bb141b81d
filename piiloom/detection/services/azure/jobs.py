"""Jobs of Azure AI Language: send texts, wait until the job is done, read what was found.

``POST /language/analyze-text/jobs`` answers 202 with the job's address in ``operation-location``, which is asked until the job has ended.
Places are asked for in code points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import httpx2
from tenacity import AsyncRetrying, RetryError, retry_if_result, wait_exponential

from piiloom.detection.services.calling import ServiceCaller, TextRefused
from piiloom.execution.retrying import Sleep, result_of
from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import AuthFailed, InvalidRequest, NotServed, ProviderUnavailable, RateLimited
from piiloom.providers.rate_headers import read_retry_after

VERSION: Final = "2024-11-01"
_PATH: Final = "/language/analyze-text/jobs"
_KEY_HEADER: Final = "Ocp-Apim-Subscription-Key"
_UNDER_WAY: Final = frozenset({"notstarted", "running"})
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 8.0
_LONGEST_JOB_S: Final = 3600.0
_GONE: Final = 404
_OVERLOADED: Final = 503


class AzureText(NamedTuple):
    """A text to be looked at; ``id`` is its name within a request."""

    id: str
    text: str
    language: str


class JobLost(Exception):
    """The job ended without results, or is not there any more: its texts have to be sent again."""


class NotTaken(Exception):
    """The service does not take the request as a whole; ``str()`` says why. One of its texts may be the cause."""


class AzureJobs:
    """The jobs of one resource at *endpoint*, which must be https, or on this machine."""

    def __init__(self, endpoint: str, key: str, caller: ServiceCaller, *, timeout_s: float, sleep: Sleep) -> None:
        self._origin = _origin(endpoint)
        self._caller, self._sleep = caller, sleep
        self._url = f"{endpoint.rstrip('/')}{_PATH}"
        # No redirects: the key would go along.
        self._client = httpx2.AsyncClient(headers={_KEY_HEADER: key}, timeout=timeout_s, follow_redirects=False)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def results(self, pieces: Sequence[AzureText]) -> Mapping[str, Any]:
        """Return, by the ids of *pieces*, the entities of those that were read, or the ``TextRefused`` of others; some may be missing.

        Raises ``JobLost``, ``NotTaken``, ``TextRefused`` for all of them, or the error that ends the run.
        """
        where = await self._begin(pieces)
        return _read(await self._ended(where))

    async def _begin(self, pieces: Sequence[AzureText]) -> str:
        documents = [{"id": one.id, "language": one.language, "text": one.text} for one in pieces]
        task = {"kind": "PiiEntityRecognition", "taskName": "pii", "parameters": {"stringIndexType": "UnicodeCodePoint"}}
        body = {"displayName": "piiloom", "analysisInput": {"documents": documents}, "tasks": [task]}

        async def post() -> httpx2.Response:
            response = await self._sent("POST", self._url, json=body)
            if response.status_code in {400, 413}:
                return response
            return _sound(response, self._origin)

        response = await self._caller.send(post)
        if response.status_code in {400, 413}:
            raise NotTaken(_reason(response))
        where = response.headers.get("operation-location", "")
        if _origin(where) != self._origin:  # the key is for this host only
            raise TextRefused("the service gave no address of the job on its own host")
        return where

    async def _ended(self, where: str) -> Mapping[str, Any]:
        async def get() -> httpx2.Response:
            response = await self._sent("GET", where)
            return response if response.status_code == _GONE else _sound(response, self._origin)

        async def look() -> Mapping[str, Any] | float:
            response = await self._caller.send(get, counted=False)
            if response.status_code == _GONE:
                raise JobLost("the job is not there any more")
            job = _json(response)
            status = str(job.get("status", "")).lower()
            if status in {"failed", "cancelled", "cancelling", "rejected"}:
                raise JobLost(f"the job has ended as {status}{_code(job.get('errors'))}")
            return read_retry_after(response.headers) or 0.0 if status in _UNDER_WAY else job

        backoff = wait_exponential(_FIRST_WAIT_S, max=_LONGEST_WAIT_S)
        looks = AsyncRetrying(
            retry=retry_if_result(lambda found: isinstance(found, float)),
            wait=lambda state: result_of(state) or backoff(state),
            stop=lambda state: state.idle_for + state.upcoming_sleep > _LONGEST_JOB_S,
            sleep=self._sleep,
        )
        try:
            return await looks(look)
        except RetryError:
            raise JobLost("the job does not end") from None

    async def _sent(self, method: str, url: str, **more: Any) -> httpx2.Response:
        try:
            return await self._client.request(method, url, params={"api-version": VERSION} if method == "POST" else None, **more)
        except httpx2.TimeoutException as error:
            raise ProviderUnavailable("azure: no answer in time", where=self._origin, timed_out=True, maybe_billed=True) from error
        except httpx2.HTTPError as error:
            raise ProviderUnavailable(f"azure: the connection failed ({type(error).__name__})", where=self._origin) from error


def _sound(response: httpx2.Response, where: str) -> httpx2.Response:
    """Return *response* if it is a good one; raises ``ProviderError``."""
    status = response.status_code
    if response.is_success:
        return response
    raise _error(status, response, where)


def _error(status: int, response: httpx2.Response, where: str) -> ProviderError:
    reason = f"azure: HTTP {status} ({_reason(response)})"
    if status == 429:
        return RateLimited("azure: too many requests", retry_after=read_retry_after(response.headers), where=where)
    if status in {401, 403}:
        return AuthFailed(reason, where=where, remedy="Check AZURE_LANGUAGE_KEY and the endpoint: both belong to one resource")
    if status == _GONE:
        return NotServed(reason, where=where, remedy="Check --endpoint: that of a Language resource")
    if status >= 500 or status == 408:
        return ProviderUnavailable(reason, retry_after=read_retry_after(response.headers), overloaded=status == _OVERLOADED, where=where)
    return InvalidRequest(reason, where=where)


def _json(response: httpx2.Response) -> dict[str, Any]:
    try:
        found = response.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise TextRefused("azure: the answer is no JSON object")
    return found


def _read(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return entities, or why there are none, by document of *job*. An answer of another shape has nothing."""
    found: dict[str, Any] = {}
    tasks = job.get("tasks")
    items = tasks.get("items") if isinstance(tasks, dict) else None
    for item in items if isinstance(items, list) else []:
        results = item.get("results") if isinstance(item, dict) else None
        if not isinstance(results, dict):
            continue
        for one in _dicts(results.get("documents")):
            found[str(one.get("id"))] = _dicts(one.get("entities"))
        for one in _dicts(results.get("errors")):
            found[str(one.get("id"))] = TextRefused(f"azure refused the text{_code([one.get('error')])}")
    return found


def _dicts(found: object) -> list[dict[str, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _code(errors: object) -> str:
    """Return the code of the first of *errors* in brackets; its message, which might quote the text, is left out."""
    for one in _dicts(errors):
        inner = one.get("innererror")
        code = inner.get("code") if isinstance(inner, dict) else one.get("code")
        if isinstance(code, str) and code.isascii() and code.replace("_", "").isalnum():
            return f" ({code})"
    return ""


def _reason(response: httpx2.Response) -> str:
    try:
        body = response.json()
    except ValueError:
        return "no reason given"
    return _code([body.get("error")] if isinstance(body, dict) else None).strip(" ()") or "no reason given"


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
