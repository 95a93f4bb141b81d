"""The detector "azure": PII detection of Azure AI Language, by jobs of up to five texts."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final
from urllib.parse import urlsplit

from piiloom.detection.adapters.languages import locale_language
from piiloom.detection.adapters.mapped_findings import LabelledRange
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.services.azure.gathering_texts import MOST_CHARACTERS, TextGatherer
from piiloom.detection.services.azure.jobs import AzureJobs, AzureText, JobLost, NotTaken
from piiloom.detection.services.calling import REQUEST_S, TextRefused
from piiloom.detection.services.service_detector import ServiceDetector
from piiloom.execution.call_channel import CallPolicy
from piiloom.foundation.errors import ProviderError, UsageError
from piiloom.providers.errors import AuthFailed
from piiloom.providers.protocol import Provider

KEY: Final = "AZURE_LANGUAGE_KEY"
ENDPOINT: Final = "AZURE_LANGUAGE_ENDPOINT"
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
# Where the service's code is not that of the language alone.
_LANGUAGES: Final = {"zh_CN": "zh-hans", "zh_SG": "zh-hans", "zh_TW": "zh-hant", "zh_HK": "zh-hant", "pt_BR": "pt-BR", "pt_PT": "pt-PT"}
_NOWHERE: Final = -1


def make(settings: DetectorSettings, provider: Provider | None, policy: CallPolicy | None) -> AzureDetector:
    """See ``registry.Make``."""
    del provider, policy
    assert settings.service is not None  # noqa: S101 - checked when the settings were made
    return AzureDetector(settings.service, settings.threshold, taxonomy=settings.taxonomy)


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
        self._futures: dict[str, asyncio.Future[Sequence[LabelledRange]]] = {}
        self._tries: dict[str, int] = {}

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
        name = str(next(self._numbers))
        future = self._futures[name] = asyncio.get_running_loop().create_future()
        self._gatherer.add(AzureText(name, piece, language))
        try:
            answer: Sequence[LabelledRange] = await future
            return answer
        finally:
            del self._futures[name]
            self._tries.pop(name, None)

    async def _send(self, pieces: Sequence[AzureText]) -> None:
        """Answer each of *pieces*."""
        try:
            results = await self._opened().results(pieces)
        except NotTaken as fault:
            if len(pieces) == 1:
                self._answer(pieces[0], TextRefused(f"azure does not take the text ({fault})"))
            else:
                await self._alone(pieces)
            return
        except JobLost as lost:
            await self._again(pieces, str(lost))
            return
        except (TextRefused, ProviderError) as error:
            for one in pieces:
                self._answer(one, error)
            return
        for one in pieces:
            if one.id in results:
                entities = results[one.id]
                self._answer(one, entities if isinstance(entities, TextRefused) else _found(one.text, entities))
        await self._again([one for one in pieces if one.id not in results], "the answer leaves the text out")

    async def _again(self, pieces: Sequence[AzureText], reason: str) -> None:
        """Send *pieces* once more, each by itself, unless that was done often enough."""
        left = []
        for one in pieces:
            self._tries[one.id] = self._tries.get(one.id, 1) + 1
            if self._tries[one.id] > self.settings.attempts:
                self._answer(one, TextRefused(f"azure: {reason}, {self.settings.attempts} times"))
            else:
                left.append(one)
        await self._alone(left)

    async def _alone(self, pieces: Sequence[AzureText]) -> None:
        await asyncio.gather(*(self._send([one]) for one in pieces))

    def _answer(self, piece: AzureText, answer: Sequence[LabelledRange] | Exception) -> None:
        future = self._futures.get(piece.id)
        if future is None or future.done():  # nobody waits for it any more
            return
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)

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
