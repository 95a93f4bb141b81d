"""Detectors that are services: limits, retries and the end of a run, long texts in pieces, and texts that are refused; the detector "aws".

The detector "aws": ``DetectPiiEntities`` of AWS Comprehend, a request a text. Needs the extra ``aws``.
"""

from __future__ import annotations

import asyncio
import random
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, ClassVar, Final, Self, TypeVar

from tenacity import RetryCallState

from piiloom.detection.adapters.label_targets import WITHOUT_PHASES, LabelledRange, label_targets, locale_language, mapped_findings
from piiloom.detection.asking import all_of
from piiloom.detection.detector import Findings, ModelDetector, SetAside, library, sentence_pieces
from piiloom.detection.detector_settings import DetectorSettings, Service
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.call_entries import CallTotals
from piiloom.execution.limits.limiter import Limiter
from piiloom.execution.retrying import RetryPolicy, Sleep
from piiloom.foundation.errors import ProviderError, UsageError
from piiloom.providers.errors import ENDS_RUN, AuthFailed, InvalidRequest, ProviderUnavailable, RateLimited
from piiloom.providers.protocol import Provider
from piiloom.providers.rate_headers import read_retry_after
from piiloom.taxonomy.entity_types import Taxonomy

T = TypeVar("T")
REQUEST_S: Final = 60.0  # longest duration of a request where none is given
_FAILURES: Final = 20


class TextRefused(Exception):
    """The service has nothing to say about one text; ``str()`` is the reason. Others are not concerned."""


class ServiceCaller:
    """Makes requests within *limiter*, and tries again by *policy*. ``totals`` counts them.

    A text whose requests failed for good is refused with that reason, and the run goes on, unless the next ones would fail as well: for a
    wrong key, before the first answer, and after ``max(20, 2 * concurrency)`` failures in a row the error is raised.
    """

    def __init__(self, limiter: Limiter, policy: RetryPolicy, totals: CallTotals, *, concurrency: int, sleep: Sleep) -> None:
        self._limiter, self._policy, self.totals, self._sleep = limiter, policy, totals, sleep
        self._rng = random.Random()
        self._most = max(_FAILURES, 2 * concurrency)
        self._in_a_row = 0

    async def send(self, request: Callable[[], Awaitable[T]], *, counted: bool = True) -> T:
        """Return what *request* returns.

        It raises ``ProviderError``; those worth it are tried again. *counted*: its answer counts as one that was paid for. Raises
        ``TextRefused``, or the error if the run must end.
        """
        try:
            answer: T = await self._policy.tries(self._rng, sleep=self._sleep, before_sleep=self._count_retry)(self._once, request)
        except ProviderError as error:
            raise self._given_up(self._policy.settled(error)) from error
        self._in_a_row = 0
        if counted:
            self.totals.answered += 1
            self.totals.answered_now += 1
            self.totals.unpriced += 1  # prices of services are by contract and volume
        return answer

    def _count_retry(self, _: RetryCallState) -> None:
        self.totals.retries += 1

    async def _once(self, request: Callable[[], Awaitable[T]]) -> T:
        async with self._limiter.slot(0) as slot:
            began = time.monotonic()
            try:
                answer = await request()
            except RateLimited as error:
                slot.refused(retry_after=error.retry_after)
                raise
            except ProviderUnavailable as error:
                if error.overloaded:
                    slot.refused(retry_after=error.retry_after)
                else:
                    slot.failed(timed_out=error.timed_out)
                raise
            slot.answered(tokens=None, latency_s=time.monotonic() - began, stage="")
            return answer

    def _given_up(self, error: ProviderError) -> Exception:
        self.totals.failed += 1
        self._in_a_row += 1
        if isinstance(error, ENDS_RUN) or self._in_a_row >= self._most:
            return error
        if not self.totals.answered_now and isinstance(error, RateLimited | ProviderUnavailable):
            return error
        return TextRefused(error.message)


OUTSIDE: Final = "outside_text"  # the service gave a place that the text does not have, or another value than stands there


class ServiceDetector(ModelDetector):
    """A detector that is a service. *policy* and *sleep* replace those that wait as the settings say.

    Of one service are ``name``, the ``rpm`` that it allows, and how it is opened, closed and asked. A label means what the map of that name
    says, under the user's own.
    """

    rpm: ClassVar[float | None]

    def __init__(
        self,
        settings: Service,
        threshold: float,
        *,
        taxonomy: Taxonomy,
        policy: RetryPolicy | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__()
        self.settings, self._threshold = settings, threshold
        self._policy, self._sleep = policy or RetryPolicy(attempts=settings.attempts), sleep
        self._targets = label_targets([self.name], settings.label_map, taxonomy)
        self._caller: ServiceCaller | None = None

    async def __aenter__(self) -> Self:
        if self._caller is not None:
            raise UsageError("the detector is open already", remedy="Share it: many texts can be under way at once")
        await self.open()
        settings = self.settings
        limiter = Limiter(concurrency=settings.concurrency, rpm=settings.rpm or self.rpm)
        self._caller = ServiceCaller(limiter, self._policy, self._totals, concurrency=settings.concurrency, sleep=self._sleep)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._caller = None
        await self.close()

    @classmethod
    def made(cls, settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> Self:  # noqa: ARG003
        """See ``registry.make_detector``."""
        assert settings.service is not None  # noqa: S101 - checked when the settings were made
        return cls(settings.service, settings.threshold, taxonomy=settings.taxonomy)

    @property
    def caller(self) -> ServiceCaller:
        """What sends requests. Raises ``UsageError`` if the detector is not open."""
        if self._caller is None:
            raise UsageError("the service is not connected", remedy="Use it as a context manager: async with detector: …")
        return self._caller

    @abstractmethod
    async def open(self) -> None:
        """Make ready to send. Raises ``AuthFailed`` without a key."""

    @abstractmethod
    async def close(self) -> None:
        """Close connections."""

    @abstractmethod
    def language(self, locale: str) -> str:
        """Return how the service calls the language of *locale*. Raises ``TextRefused`` for one that it does not read."""

    @abstractmethod
    def limit(self, text: str) -> int:
        """Return the most code points of a piece of *text*."""

    @abstractmethod
    async def ask(self, piece: str, language: str) -> Sequence[LabelledRange]:
        """Return what the service finds in *piece*, at places that may not exist. Raises ``TextRefused`` and ``ProviderError``."""

    async def examine_async(
        self,
        text: str,
        locale: str,
        question: str | None = None,  # noqa: ARG002 - services judge no relevance
        *,
        item_id: str = "",  # noqa: ARG002 - nothing is journaled
        group_keys: Sequence[str] = (),  # noqa: ARG002 - services are shown no examples
    ) -> Findings:
        """Send *text*, a long one in pieces. Raises errors that would hit every other text."""
        try:
            language = self.language(locale)
            pieces = sentence_pieces(text, self.limit(text))
            answers = await all_of(self.ask(text[start:end], language) for start, end in pieces)
        except TextRefused as refusal:
            return Findings(spans=(), failed=str(refusal))
        found: list[LabelledRange] = []
        outside: list[SetAside] = []
        for (begin, end), answer in zip(pieces, answers, strict=True):
            for one in answer:
                if 0 <= one.start < one.end <= end - begin:
                    found.append(LabelledRange(start=one.start + begin, end=one.end + begin, label=one.label, score=one.score))
                else:
                    outside.append(SetAside(phase=WITHOUT_PHASES, reason=f"{OUTSIDE}: {one.label}"))
        result = mapped_findings(text, [one for one in found if one.score >= self._threshold], self._targets, self.name)
        return Findings(spans=result.spans, set_aside=(*result.set_aside, *outside))


_MOST_BYTES: Final = 100_000  # "100 KB" of UTF-8
_MOST_BYTES_A_CHARACTER: Final = 4
_LANGUAGES: Final = frozenset({"en", "es"})
_THROTTLED: Final = frozenset({"ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded"})
_NOT_ALLOWED: Final = frozenset(
    {
        "AccessDeniedException",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "OptInRequired",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
_NOWHERE: Final = -1
_SERVER_ERROR: Final = 500
_OVERLOADED: Final = 503
_KEYS: Final = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or what else boto3 reads"


class AwsDetector(ServiceDetector):
    """Finds what the service finds, in English and Spanish. Credentials are those that boto3 finds. Raises ``UsageError`` without boto3."""

    name = "aws"
    rpm = None  # the service's limits are of an account: the limiter finds them out

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        problem, where = "the detector 'aws' needs boto3", "--detector aws"
        self._boto3, self._botocore = library("boto3", problem, "aws", where), library("botocore", problem, "aws", where)
        self._client: Any = None
        self._threads: ThreadPoolExecutor | None = None

    async def open(self) -> None:
        """See ``ServiceDetector``."""
        self._client = await asyncio.to_thread(self._connected)
        self._threads = ThreadPoolExecutor(self.settings.concurrency, thread_name_prefix="aws")

    def _connected(self) -> Any:
        settings = self.settings
        exceptions = self._botocore.exceptions
        try:
            session = self._boto3.session.Session(region_name=settings.region)
            if session.get_credentials() is None:
                raise AuthFailed("there are no credentials for aws", where="--detector aws", remedy=_KEYS)
            config = self._botocore.config.Config(
                connect_timeout=settings.timeout_s or REQUEST_S,
                read_timeout=settings.timeout_s or REQUEST_S,
                max_pool_connections=settings.concurrency,
                retries={"total_max_attempts": 1},  # ours are the only ones
            )
            return session.client("comprehend", endpoint_url=settings.endpoint, config=config)
        except exceptions.NoRegionError:
            raise UsageError("aws is asked in a region", where="--region", remedy="Name it, or set AWS_REGION") from None
        except (exceptions.BotoCoreError, ValueError) as error:
            raise UsageError(
                f"aws cannot be asked so ({type(error).__name__})", where="--endpoint, --region", remedy="Check them"
            ) from None

    async def close(self) -> None:
        """See ``ServiceDetector``."""
        threads, self._threads = self._threads, None
        client, self._client = self._client, None
        if threads is not None:
            await asyncio.to_thread(threads.shutdown)
        if client is not None:
            client.close()

    def language(self, locale: str) -> str:
        """See ``ServiceDetector``."""
        language = locale_language(locale)
        if language not in _LANGUAGES:
            raise TextRefused(f"aws finds personal information in English and Spanish only, not in {language}")
        return language

    def limit(self, text: str) -> int:
        """See ``ServiceDetector``."""
        return _MOST_BYTES if text.isascii() else _MOST_BYTES // _MOST_BYTES_A_CHARACTER

    async def ask(self, piece: str, language: str) -> Sequence[LabelledRange]:
        """See ``ServiceDetector``."""

        async def request() -> Mapping[str, Any]:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._asked, piece, language)

        return _found(await self.caller.send(request))

    def _asked(self, piece: str, language: str) -> Mapping[str, Any]:
        exceptions = self._botocore.exceptions
        where = self._client.meta.endpoint_url
        try:
            found: Mapping[str, Any] = self._client.detect_pii_entities(Text=piece, LanguageCode=language)
        except exceptions.ClientError as error:
            raise _said(error.response, where) from error
        except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError) as error:
            raise AuthFailed("there are no credentials for aws", where=where, remedy=_KEYS) from error
        except (exceptions.ReadTimeoutError, exceptions.ConnectTimeoutError) as error:
            raise ProviderUnavailable("aws: no answer in time", where=where, timed_out=True, maybe_billed=True) from error
        except (exceptions.BotoCoreError, ValueError) as error:  # connections, and answers that cannot be read
            raise ProviderUnavailable(f"aws: no usable answer ({type(error).__name__})", where=where, maybe_billed=True) from error
        if not isinstance(found.get("Entities"), list):  # of an answer that was cut the SDK makes one without any
            raise ProviderUnavailable("aws: no usable answer", where=where, maybe_billed=True)
        return found


def _said(response: Mapping[str, Any], where: str) -> ProviderError:
    """Return the error for *response*; its message, which may quote the text, is left out."""
    code = str(response.get("Error", {}).get("Code", "unknown"))
    about = response.get("ResponseMetadata", {})
    status, headers = int(about.get("HTTPStatusCode", 0)), about.get("HTTPHeaders", {})
    reason = f"aws: {code}" if code.isascii() and code.replace(".", "").isalnum() else f"aws: HTTP {status}"
    if code in _THROTTLED or status == 429:
        return RateLimited("aws: too many requests", retry_after=read_retry_after(headers), where=where)
    if code in _NOT_ALLOWED or status in {401, 403}:
        return AuthFailed(reason, where=where, remedy="Check the credentials, the region and the permission comprehend:DetectPiiEntities")
    if status >= _SERVER_ERROR:
        return ProviderUnavailable(reason, retry_after=read_retry_after(headers), overloaded=status == _OVERLOADED, where=where)
    return InvalidRequest(reason, where=where)


def _found(answer: Mapping[str, Any]) -> list[LabelledRange]:
    found = []
    for one in answer["Entities"]:
        start, end, score = one.get("BeginOffset"), one.get("EndOffset"), one.get("Score")
        sound = isinstance(start, int) and isinstance(end, int) and isinstance(score, int | float)
        place = (start, end, float(score)) if sound else (_NOWHERE, _NOWHERE, 1.0)
        found.append(LabelledRange(start=place[0], end=place[1], label=str(one.get("Type", "?")), score=place[2]))
    return found
