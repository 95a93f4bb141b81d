"""The detector "azure": PII detection of Azure AI Language, by jobs of up to five texts.

``POST /language/analyze-text/jobs`` answers 202 with the job's address in ``operation-location``, which is asked until the job has ended.
Places are asked for in code points.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
from tenacity import AsyncRetrying, RetryError, retry_if_result, wait_exponential

from piiloom.detection.adapters.label_targets import LabelledRange, locale_language
from piiloom.detection.asking import settle
from piiloom.detection.services.service_detector import REQUEST_S, ServiceCaller, ServiceDetector, TextRefused
from piiloom.execution.retrying import Sleep, last_result
from piiloom.foundation.errors import ProviderError, UsageError
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


@dataclass(slots=True, eq=False)
class AzureText:
    """A text to be looked at; ``id`` is its name within a request, ``answer`` gets its findings, and ``tries`` counts its requests."""

    id: str
    text: str
    language: str
    answer: asyncio.Future[Sequence[LabelledRange]]
    tries: int = 1


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
            wait=lambda state: last_result(state) or backoff(state),
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
    if response.is_success:
        return response
    status = response.status_code
    reason = f"azure: HTTP {status} ({_reason(response)})"
    if status == 429:
        raise RateLimited("azure: too many requests", retry_after=read_retry_after(response.headers), where=where)
    if status in {401, 403}:
        raise AuthFailed(reason, where=where, remedy="Check AZURE_LANGUAGE_KEY and the endpoint: both belong to one resource")
    if status == _GONE:
        raise NotServed(reason, where=where, remedy="Check --endpoint: that of a Language resource")
    if status >= 500 or status == 408:
        raise ProviderUnavailable(reason, retry_after=read_retry_after(response.headers), overloaded=status == _OVERLOADED, where=where)
    raise InvalidRequest(reason, where=where)


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


MOST_TEXTS: Final = 5
MOST_CHARACTERS: Final = 125_000
_PATIENCE_S: Final = 0.02  # how long a text waits for others


class TextGatherer:
    """Calls *send* with up to five texts at once, of 125,000 code points in all; ``add`` is a text's turn.

    *send* does something with each: it must answer for all, whatever happens.
    """

    def __init__(self, send: Callable[[Sequence[AzureText]], Coroutine[Any, Any, object]]) -> None:
        self._send = send
        self._waiting: list[AzureText] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[object]] = set()

    def add(self, piece: AzureText) -> None:
        """Take *piece*; it is sent when a request is full, or shortly."""
        if sum(len(one.text) for one in self._waiting) + len(piece.text) > MOST_CHARACTERS:
            self.flush()
        self._waiting.append(piece)
        if len(self._waiting) == MOST_TEXTS:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PATIENCE_S, self.flush)

    def flush(self) -> None:
        """Send what is waiting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting:
            pieces, self._waiting = self._waiting, []
            task: asyncio.Task[object] = asyncio.create_task(self._send(pieces))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Cancel what is under way."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


KEY: Final = "AZURE_LANGUAGE_KEY"
ENDPOINT: Final = "AZURE_LANGUAGE_ENDPOINT"
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
# Where the service's code is not that of the language alone.
_LANGUAGES: Final = {"zh_CN": "zh-hans", "zh_SG": "zh-hans", "zh_TW": "zh-hant", "zh_HK": "zh-hant", "pt_BR": "pt-BR", "pt_PT": "pt-PT"}
_NOWHERE: Final = -1


class AzureDetector(ServiceDetector):
    """Finds what the service finds. The key is that of the variable AZURE_LANGUAGE_KEY.

    A text that a job leaves out, or whose job was lost, is sent again, alone, up to the attempts of the settings. Raises ``UsageError``
    without an endpoint, or for one to which the key would go unencrypted.
    """

    name = "azure"
    rpm = 1000.0

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._endpoint = _checked(self.settings.endpoint or os.environ.get(ENDPOINT, ""))
        self._jobs: AzureJobs | None = None
        self._gatherer = TextGatherer(self._send)
        self._numbers = count()

    async def open(self) -> None:
        """See ``ServiceDetector``."""
        if not os.environ.get(KEY):
            raise AuthFailed("there is no key for azure", where="--detector azure", remedy=f"Set {KEY}, and {ENDPOINT} or --endpoint")

    async def close(self) -> None:
        """See ``ServiceDetector``."""
        await self._gatherer.close()
        if self._jobs is not None:
            await self._jobs.aclose()
            self._jobs = None

    def language(self, locale: str) -> str:
        """See ``ServiceDetector``; which languages there are, the service says."""
        return _LANGUAGES.get(locale, locale_language(locale))

    def limit(self, text: str) -> int:
        """See ``ServiceDetector``."""
        del text
        return MOST_CHARACTERS

    async def ask(self, piece: str, language: str) -> Sequence[LabelledRange]:
        """See ``ServiceDetector``."""
        asked = AzureText(str(next(self._numbers)), piece, language, asyncio.get_running_loop().create_future())
        self._gatherer.add(asked)
        return await asked.answer

    async def _send(self, pieces: Sequence[AzureText]) -> None:
        """Answer each of *pieces*."""
        try:
            results = await self._opened().results(pieces)
        except NotTaken as fault:
            if len(pieces) == 1:
                settle(pieces[0].answer, TextRefused(f"azure does not take the text ({fault})"))
            else:
                await self._alone(pieces)
            return
        except JobLost as lost:
            await self._again(pieces, str(lost))
            return
        except (TextRefused, ProviderError) as error:
            for one in pieces:
                settle(one.answer, error)
            return
        for one in pieces:
            if one.id in results:
                entities = results[one.id]
                settle(one.answer, entities if isinstance(entities, TextRefused) else _found(one.text, entities))
        await self._again([one for one in pieces if one.id not in results], "the answer leaves the text out")

    async def _again(self, pieces: Sequence[AzureText], reason: str) -> None:
        """Send *pieces* once more, each by itself, unless that was done often enough."""
        left = []
        for one in pieces:
            one.tries += 1
            if one.tries > self.settings.attempts:
                settle(one.answer, TextRefused(f"azure: {reason}, {self.settings.attempts} times"))
            else:
                left.append(one)
        await self._alone(left)

    async def _alone(self, pieces: Sequence[AzureText]) -> None:
        await asyncio.gather(*(self._send([one]) for one in pieces))

    def _opened(self) -> AzureJobs:
        if self._jobs is None:
            key, settings = os.environ[KEY], self.settings
            self._jobs = AzureJobs(self._endpoint, key, self.caller, timeout_s=settings.timeout_s or REQUEST_S, sleep=self._sleep)
        return self._jobs


def _found(text: str, entities: Sequence[Mapping[str, Any]]) -> list[LabelledRange]:
    """Return *entities* of *text*; one whose value does not stand at its place gets none."""
    found = []
    for one in entities:
        start, length, score = one.get("offset"), one.get("length"), one.get("confidenceScore")
        label = str(one.get("subcategory") or one.get("category") or "?")
        place = (_NOWHERE, _NOWHERE)
        if isinstance(start, int) and isinstance(length, int) and start >= 0 and text[start : start + length] == one.get("text"):
            place = (start, start + length)
        sure = float(score) if isinstance(score, int | float) and 0 <= score <= 1 else 0.0
        found.append(LabelledRange(*place, label, sure))
    return found


def _checked(endpoint: str) -> str:
    if not endpoint:
        raise UsageError("azure is asked at an endpoint of yours", where="--endpoint", remedy=f"Name it, or set {ENDPOINT}")
    parts = urlsplit(endpoint)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise UsageError("the key and the texts would go over the network unencrypted", where="--endpoint", remedy="Give an https address")
    return endpoint
