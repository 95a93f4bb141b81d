"""The detector "azure" over a loopback server that behaves, and one that does not: each text ends detected or refused with a reason."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence

import pytest

from piiloom.detection.detector import Findings, ModelDetector
from piiloom.detection.detector_settings import Service
from piiloom.detection.services.azure_detector import KEY as VARIABLE
from piiloom.detection.services.azure_detector import AzureDetector
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.providers.errors import AuthFailed, NotServed, ProviderUnavailable
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.fakes.azure_server import KEY, AzureServer
from tests.longer import mostly_long


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)


async def _soon(_: float) -> None:
    await asyncio.sleep(0)


def examined(server: AzureServer, texts: Sequence[str], *, locale: str = "en_US", attempts: int = 3) -> list[Findings]:
    policy = RetryPolicy(attempts=attempts, base_s=0.001, cap_s=0.002)
    detector = AzureDetector(
        Service(endpoint=server.url, attempts=attempts, rpm=1e6), 0.5, taxonomy=shipped_taxonomy(), policy=policy, sleep=_soon
    )
    assert isinstance(detector, ModelDetector)

    async def run() -> list[Findings]:
        async with detector:
            first = await detector.examine_async(texts[0], locale)  # before the first answer any failure ends the run
            return [first, *await asyncio.gather(*(detector.examine_async(text, locale) for text in texts[1:]))]

    return asyncio.run(run())


def values(text: str, found: Findings) -> list[str]:
    return [text[one.start : one.end] for one in found.spans]


def test_texts_go_five_at_a_time_and_places_are_code_points() -> None:
    texts = [f"😀 Überbringer {number}: write to ada{number}@example.org, please" for number in range(12)]
    with AzureServer() as server:
        found = examined(server, texts, locale="pt_BR")
    assert [values(text, one) for text, one in zip(texts, found, strict=True)] == [[f"ada{n}@example.org"] for n in range(12)]
    assert {(one.spans[0].entity_type, one.spans[0].subtype, one.spans[0].score) for one in found} == {("code", "email", 0.9)}
    assert sorted(len(body["analysisInput"]["documents"]) for body in server.posts) == [1, 1, 5, 5]
    assert server.posts[0]["analysisInput"]["documents"][0]["language"] == "pt-BR"


def test_a_long_text_goes_in_pieces() -> None:
    text = "".join(f"Sentence {number} has mail{number}@example.org in it. " for number in range(4000))
    assert len(text) > 125_000
    with AzureServer() as server:
        (found,) = examined(server, [text])
    assert len(server.posts) == 2
    assert values(text, found) == [f"mail{number}@example.org" for number in range(4000)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("REFUSED a@b.org", "azure refused the text (UnsupportedLanguageCode)"),
        ("POISON a@b.org", "azure does not take the text (InvalidRequest)"),
        ("NEVER a@b.org", "azure: the answer leaves the text out, 3 times"),
    ],
)
def test_a_text_that_is_refused_leaves_the_others_alone(text: str, reason: str) -> None:
    with AzureServer() as server:
        found = examined(server, ["one@x.org", text, "two@x.org"])
    assert [one.failed for one in found] == [None, reason, None]
    assert [len(one.spans) for one in found] == [1, 0, 1]


def test_a_text_that_an_answer_leaves_out_is_sent_again() -> None:
    with AzureServer() as server:
        found = examined(server, ["first@x.org", "LEFT-OUT one@x.org", "two@x.org"])
    assert [len(one.spans) for one in found] == [1, 1, 1]
    assert [len(body["analysisInput"]["documents"]) for body in server.posts] == [1, 2, 1]


def test_a_value_that_does_not_stand_at_its_place_is_set_aside() -> None:
    with AzureServer() as server:
        (found,) = examined(server, ["MISPLACED one@x.org"])
    assert (found.spans, [one.reason for one in found.set_aside]) == ([], ["outside_text: Email"])


@pytest.mark.parametrize("fault", mostly_long(["expired", "failed", "cancelled", "garbage"], quick={"expired", "garbage"}))
def test_a_job_that_is_lost_is_sent_again(fault: str) -> None:
    with AzureServer(lambda kind, ordinal: fault if (kind, ordinal) == ("post", 1) else None) as server:
        found = examined(server, ["one@x.org", "two@x.org"])
    assert [len(one.spans) for one in found] == [1, 1]
    assert len(server.posts) == 3


def test_a_job_that_is_always_lost_is_given_up() -> None:
    with AzureServer(lambda kind, _: "expired" if kind == "post" else None) as server:
        (found,) = examined(server, ["one@x.org"])
    assert found.failed == "azure: the job is not there any more, 3 times"


@pytest.mark.parametrize("fault", mostly_long(["429", "500", "503", "cut"], quick={"429", "cut"}))
@pytest.mark.parametrize("kind", ["post", "get"])
def test_what_passes_is_tried_again(fault: str, kind: str) -> None:
    with AzureServer(lambda asked, ordinal: fault if (asked, ordinal) == (kind, 1) else None) as server:
        (found,) = examined(server, ["one@x.org"])
    assert (found.failed, len(found.spans)) == (None, 1)


@pytest.mark.parametrize(("fault", "error"), [("500", ProviderUnavailable), ("401", AuthFailed), ("404", NotServed)])
def test_what_hits_every_text_ends_the_run_and_names_no_key(fault: str, error: type[PiiloomError]) -> None:
    with AzureServer(lambda _kind, _ordinal: fault) as server, pytest.raises(error) as caught:
        examined(server, ["one@x.org"] * 3)
    assert KEY not in str(caught.value)
    assert "one@x.org" not in str(caught.value)


def test_the_key_goes_to_no_other_host() -> None:
    with AzureServer(lambda kind, _: "elsewhere" if kind == "post" else None) as server:
        (found,) = examined(server, ["one@x.org"])
    assert found.failed == "the service gave no address of the job on its own host"


def _any_fault(seed: int) -> Callable[[str, int], str | None]:
    def fault(kind: str, ordinal: int) -> str | None:
        rng = random.Random(f"{seed} {kind} {ordinal}")
        post = ("429", "500", "503", "cut", "expired", "failed", "garbage", "partial")
        return rng.choice(post if kind == "post" else post[:4]) if rng.random() < 0.3 and ordinal > 2 else None

    return fault


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_whatever_happens_each_text_ends_detected_or_refused(seed: int) -> None:
    rng = random.Random(seed)
    words = ["", "", "", "REFUSED ", "POISON ", "LEFT-OUT "]
    texts = [f"{rng.choice(words)}{number} writes as a{number}@x.org" for number in range(25 if seed == 0 else 120)]
    with AzureServer(_any_fault(seed), polls=1) as server:
        found = examined(server, texts, attempts=12)
    for text, one in zip(texts, found, strict=True):
        assert (one.failed is None) == (len(one.spans) == 1)
        assert (one.failed is None) == ("REFUSED" not in text and "POISON" not in text)


@pytest.mark.parametrize("endpoint", ["", "http://language.example.org", "http://localhost.example.org", "ftp://x"])
def test_an_endpoint_that_would_give_the_key_away_is_refused(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_LANGUAGE_ENDPOINT", raising=False)
    with pytest.raises(UsageError, match=r"endpoint|unencrypted"):
        AzureDetector(Service(endpoint=endpoint), 0.5, taxonomy=shipped_taxonomy())


def test_without_a_key_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    with AzureServer() as server, pytest.raises(AuthFailed, match="no key"):
        examined(server, ["one@x.org"])
    assert not server.counts
