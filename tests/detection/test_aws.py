"""The detector "aws": boto3 over a loopback server that behaves, and one that does not."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import pytest

pytest.importorskip("boto3")

from piiloom.detection.detector import Findings, ModelDetector
from piiloom.detection.detector_settings import Service
from piiloom.detection.services.service_detector import AwsDetector
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.providers.errors import AuthFailed, ProviderUnavailable
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.fakes.aws_server import KEY_ID, SECRET, AwsServer

pytestmark = pytest.mark.train
POLICY = RetryPolicy(attempts=4, base_s=0.001, cap_s=0.002)


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)


async def _soon(_: float) -> None:
    await asyncio.sleep(0)


def examined(endpoint: str, texts: Sequence[str], *, locale: str = "en_US", region: str | None = "eu-west-1") -> list[Findings]:
    detector = AwsDetector(
        Service(endpoint=endpoint, region=region, timeout_s=5), 0.5, taxonomy=shipped_taxonomy(), policy=POLICY, sleep=_soon
    )
    assert isinstance(detector, ModelDetector)

    async def run() -> list[Findings]:
        async with detector:
            first = await detector.examine_async(texts[0], locale)  # before the first answer any failure ends the run
            return [first, *await asyncio.gather(*(detector.examine_async(text, locale) for text in texts[1:]))]

    return asyncio.run(run())


def test_texts_are_asked_about_and_places_are_code_points() -> None:
    texts = [f"😀 Über {number}: ada{number}@example.org" for number in range(12)]
    with AwsServer() as server:
        found = examined(server.url, texts, locale="es_ES")
    assert [text[one.spans[0].start : one.spans[0].end] for text, one in zip(texts, found, strict=True)] == [
        f"ada{number}@example.org" for number in range(12)
    ]
    assert {(one.spans[0].entity_type, one.spans[0].subtype, one.spans[0].score) for one in found} == {("code", "email", 0.97)}
    assert {asked["LanguageCode"] for asked in server.asked} == {"es"}


def test_a_long_text_goes_in_pieces_of_100_kb() -> None:
    text = "".join(f"Sätze haben wir {number}, und mail{number}@example.org. " for number in range(1500))
    with AwsServer() as server:
        (found,) = examined(server.url, [text])
    assert [text[one.start : one.end] for one in found.spans] == [f"mail{number}@example.org." for number in range(1500)]
    assert len(server.asked) > 1


@pytest.mark.parametrize(
    ("text", "locale", "reason"),
    [
        ("REFUSED a@b.org", "en_US", "aws: InvalidRequestException"),
        ("a@b.org", "pl_PL", "aws finds personal information in English and Spanish only, not in pl"),
    ],
)
def test_a_text_that_is_refused_leaves_the_others_alone(text: str, locale: str, reason: str) -> None:
    detector_texts = [("one@x.org", "en_US"), (text, locale), ("two@x.org", "en_US")]
    with AwsServer() as server:
        found = [examined(server.url, [one], locale=where)[0] for one, where in detector_texts]
        together = examined(server.url, ["one@x.org", "REFUSED a@b.org", "two@x.org"])
    assert [one.failed for one in found] == [None, reason, None]
    assert [one.failed for one in together] == [None, "aws: InvalidRequestException", None]


def test_a_place_outside_the_text_is_set_aside() -> None:
    with AwsServer() as server:
        (found,) = examined(server.url, ["MISPLACED one@x.org"])
    assert (list(found.spans), [one.reason for one in found.set_aside]) == ([], ["outside_text: EMAIL"])


@pytest.mark.parametrize("fault", ["throttled", "429", "500", "503", "garbage", "cut"])
def test_what_passes_is_tried_again(fault: str) -> None:
    with AwsServer(lambda ordinal: fault if ordinal == 1 else None) as server:
        (found,) = examined(server.url, ["one@x.org"])
    assert (found.failed, len(found.spans), server.requests) == (None, 1, 2)


@pytest.mark.parametrize(("fault", "error"), [("500", ProviderUnavailable), ("expired", AuthFailed), ("denied", AuthFailed)])
def test_what_hits_every_text_ends_the_run_and_names_no_key(fault: str, error: type[PiiloomError]) -> None:
    with AwsServer(lambda _: fault) as server, pytest.raises(error) as caught:
        examined(server.url, ["one@x.org"] * 3)
    assert not any(secret in str(caught.value) for secret in (KEY_ID, SECRET, "one@x.org", "quotes"))


def test_whatever_happens_each_text_ends_detected_or_refused() -> None:
    rng = random.Random(7)
    texts = [f"{'REFUSED ' if rng.random() < 0.1 else ''}{number} writes as a{number}@x.org" for number in range(60)]
    faults = [rng.choice(("throttled", "500", "503", "garbage", "cut")) if rng.random() < 0.3 else None for _ in range(5000)]
    with AwsServer(lambda ordinal: faults[ordinal] if ordinal > 1 else None) as server:
        found = examined(server.url, texts)
    for text, one in zip(texts, found, strict=True):
        assert (one.failed is None) == (len(one.spans) == 1)
        assert one.failed is not None or "REFUSED" not in text
    assert sum(one.failed is None for one in found) > 30


def test_without_credentials_or_region_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with AwsServer() as server:
        with pytest.raises(UsageError, match="region"):
            examined(server.url, ["one@x.org"], region=None)
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        with pytest.raises(AuthFailed, match="no credentials"):
            examined(server.url, ["one@x.org"])
    assert not server.requests
