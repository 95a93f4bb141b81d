"""Verifiers behind any detector, over real HTTP and the real SDKs: what is asked, refused, left to the default, and paid."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

import pytest

from piiloom.corpus.formats.instruction_tuning import verifying
from piiloom.corpus.formats.verifier import verifier_message
from piiloom.detection.detector import DetectorText, Findings, ModelDetector, ScoredSpan, TextDetector
from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.detection.listing_model import KNOWN, ListingBench, ListingModel
from tests.fakes.llm_server import LLMServer

TEXT = "Anna is a nurse with asthma in Łódź. Asthma since 1990, her asthma."


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-test-0123456789-abcdefghij")


def reasons(findings):
    return [(one.reason, one.value) for one in findings.set_aside]


class Finder(TextDetector):
    """Finds ``KNOWN`` values, as a detector without a model does; counts how many texts it was given at once."""

    name = "finder"

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.batches: list[int] = []

    def examine_batch(self, texts: Sequence[DetectorText]) -> list[Findings]:
        self.batches.append(len(texts))
        return [Findings(spans=(), failed="no") if one.text == self.failing else Findings(spans=list(_spans(one.text))) for one in texts]


def _spans(text):
    for value, (kind, _) in sorted(KNOWN.items(), key=lambda one: text.find(one[0])):
        at = text.find(value)
        if at >= 0:
            yield ScoredSpan(start=at, end=at + len(value), entity_type=kind, subtype=None, score=0.6, detector="finder")


@pytest.mark.parametrize("reasoned", [False, True])
def test_a_verifier_judges_what_any_detector_finds(tmp_path, reasoned):
    with LLMServer(ListingModel(wrong=["Anna", "nurse"])) as server:
        bench = ListingBench(tmp_path, server)
        (findings,) = bench.examine([TEXT], detector=bench.verified(Finder(), reasoned=reasoned))
        sent = {body["input"][0]["content"] for body in server.bodies}
        assert {body["instructions"] for body in server.bodies} == {verifying(reasoned=reasoned, taxonomy=shipped_taxonomy())}
    assert [one.entity_type for one in findings.spans] == ["health", "location"]
    assert reasons(findings) == [("refused_by_verifier", "Anna"), ("refused_by_verifier", "nurse")]
    assert [one.note for one in findings.set_aside] == (
        [f"“{value}” is what it is." for value in ("Anna", "nurse")] if reasoned else ["", ""]
    )
    assert [(one.start, one.end) for one in findings.set_aside] == [(0, 4), (10, 15)]
    assert sent == {
        verifier_message(TEXT, "Can I?", one.start, one.end, one.entity_type, taxonomy=shipped_taxonomy()) for one in _spans(TEXT)
    }


def test_without_a_usable_verdict_a_span_stays_and_that_is_told(tmp_path):
    def spoilt(request, reply):
        return "Hard to say." if "<candidate>nurse" in request.user else f"**{reply}**"

    with LLMServer(ListingModel(wrong=["Anna"], spoil=spoilt)) as server:
        bench = ListingBench(tmp_path, server)
        (findings,) = bench.examine([TEXT], detector=bench.verified(Finder()))
        assert server.requests == 4 + 2
    assert [TEXT[one.start : one.end] for one in findings.spans] == ["nurse", "asthma", "Łódź"]
    assert reasons(findings) == [("refused_by_verifier", "Anna"), ("verifier_left_to_default: no_verdict", "nurse")]


def test_verified_texts_are_done_together_and_one_that_failed_is_not_judged(tmp_path):
    texts = [f"{TEXT} {number}" for number in range(10)]
    finder = Finder(failing=texts[3])
    with LLMServer(ListingModel()) as server:
        bench = ListingBench(tmp_path, server)
        found = bench.examine(texts, detector=bench.verified(finder))
        assert server.requests == 4 * 9
    assert [one.failed for one in found] == ["no" if number == 3 else None for number in range(10)]
    assert sum(finder.batches) == 10
    assert len(finder.batches) <= 3


def test_an_error_of_the_inner_detector_is_told_to_whoever_waits(tmp_path):
    class Broken(Finder):
        def examine_batch(self, texts):
            raise UsageError("no such language")

    with LLMServer(ListingModel()) as server:
        bench = ListingBench(tmp_path, server)
        with pytest.raises(UsageError, match="no such language"):
            bench.examine([TEXT, TEXT], detector=bench.verified(Broken()))
        assert server.requests == 0


def test_a_detector_that_waits_for_others_is_opened_and_closed(tmp_path):
    class Service(ModelDetector):
        """Waits for something that is no model."""

        name = "service"
        told: ClassVar[list[str]] = []

        async def __aenter__(self):
            self.told.append("opened")
            return self

        async def __aexit__(self, *_):
            self.told.append("closed")

        async def examine_async(self, text, locale, question=None, *, item_id="", group_keys=()):
            self.told.append(item_id)
            return Finder().examine(text, locale, question)

    with LLMServer(ListingModel(wrong=["nurse", "Anna"])) as server:
        bench = ListingBench(tmp_path, server)
        (findings,) = bench.examine([TEXT], detector=bench.verified(Service()))
    assert [one.entity_type for one in findings.spans] == ["health", "location"]
    assert Service.told == ["opened", "t0", "closed"]


def test_detector_and_verifier_are_one_run_with_one_budget(tmp_path):
    with LLMServer(ListingModel(wrong=["nurse"])) as server:
        bench = ListingBench(tmp_path, server)
        detector = bench.verified(bench.capid(), reasoned=True)
        bench.examine([TEXT], detector=detector)
        assert server.requests == 1 + 6
        assert detector.totals.answered == 7
        with pytest.raises(UsageError, match="not connected"):
            asyncio.run(bench.capid().examine_async(TEXT, "en_US"))
        bench.examine([TEXT], detector=bench.verified(bench.capid()))  # another instruction, so another run, which knows the list
    assert [(status, paid.answered) for status, paid in bench.runs()] == [("finished", 7), ("finished", 6)]


@pytest.mark.long
def test_the_batch_api_gives_the_same(tmp_path):
    texts = [f"{TEXT} {number}" for number in range(6)]
    with LLMServer(ListingModel(wrong=["nurse"])) as server:
        bench = ListingBench(tmp_path, server)
        for make in (lambda **options: bench.verified(bench.capid(), **options), lambda **options: bench.verified(Finder(), **options)):
            batched = bench.examine(texts, detector=make(batch=True))
            assert server.requests == 0
            assert bench.examine(texts, detector=make()) == batched
            assert all(len(one.spans) in {3, 5} for one in batched)
        assert server.requests == 0
        # Lists, what is found in them, and what the other detector finds: of what is asked alike, nothing is asked again.
        assert len(server.batches.billed) == 6 + 6 * 6
