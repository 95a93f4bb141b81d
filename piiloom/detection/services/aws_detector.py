"""The detector "aws": ``DetectPiiEntities`` of AWS Comprehend, a request a text. Needs the extra ``aws``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from piiloom.detection.adapters.label_targets import LabelledRange
from piiloom.detection.adapters.libraries import locale_language
from piiloom.detection.services.service_detector import REQUEST_S, ServiceDetector, TextRefused
from piiloom.foundation.errors import ProviderError, UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.providers.errors import AuthFailed, InvalidRequest, ProviderUnavailable, RateLimited
from piiloom.providers.rate_headers import read_retry_after

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
        self._boto3, self._botocore = _libraries()
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


def _libraries() -> tuple[Any, Any]:
    try:
        import boto3  # noqa: PLC0415 - the extra ``aws``
        import botocore.config  # noqa: PLC0415
        import botocore.exceptions  # noqa: PLC0415
    except ImportError as error:
        raise UsageError("the detector 'aws' needs boto3", where="--detector aws", remedy=f"Install it: {how_to_install('aws')}") from error
    return boto3, botocore


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
