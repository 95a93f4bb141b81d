"""The detector "capid" and verifiers over real HTTP and the real SDKs: the form of the exports, faults, money, what is lost and told."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import replace

import pytest

from piiloom.corpus.formats.instructions import extracting, message, verifying
from piiloom.corpus.formats.verifier_messages import verifier_message
from piiloom.detection.detector import ScoredSpan
from piiloom.detection.findings import Findings, ModelDetector, Text
from piiloom.detection.registry import DetectorSettings, make_detector
from piiloom.foundation.errors import UsageError
from tests.detection.listing_model import KNOWN, QUICK, ListingBench, ListingModel, told
from tests.fakes.llm_server import Fault, LLMServer
from tests.longer import mostly_long
from tests.providers.provider_calls import NAMES

TEXT = "Anna is a nurse with asthma in Łódź. Asthma since 1990, her asthma."
FOUND = [
    ("Anna", "name", "low"),
    ("nurse", "occupation", "low"),
    ("asthma", "health", "high"),
    ("Łódź", "location", "high"),
    ("Asthma", "health", "high"),
    ("asthma", "health", "high"),
]


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    for name in [name for name in os.environ if name.startswith(("OPENAI_", "ANTHROPIC_", "PIILOOM_"))]:
        monkeypatch.delenv(name)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-test-0123456789-abcdefghij")


def reasons(findings):
    return [(one.reason, one.value) for one in findings.set_aside]


@pytest.mark.parametrize("name", mostly_long(NAMES, {"openai"}))
def test_it_asks_as_the_exports_train(tmp_path, name):
    with LLMServer(ListingModel()) as server:
        bench = ListingBench(tmp_path, server, name)
        (findings,) = bench.examine([TEXT])
        bodies = server.bodies
        (plain,) = bench.examine([TEXT], question=None)
        assert server.requests == 2
    assert told(TEXT, findings) == FOUND
    assert not findings.set_aside
    assert told(TEXT, plain) == [(value, kind, None) for value, kind, _ in FOUND]
    if name == "openai":
        assert bodies[0]["instructions"] == extracting(relevance=True)
        assert bodies[0]["input"] == [{"role": "user", "content": message(TEXT, "Can I?")}]
        assert "text" not in bodies[0]  # a schema would be another form


def test_what_a_model_makes_up_is_told(tmp_path):
    def spoilt(_, reply):
        anna, nurse, *rest = json.loads(reply)
        wrong = [{"value": value, "type": "name", "relevance": "low"} for value in ("Bob", "nurs", "Łódź")]
        return f"Sure:\n{json.dumps([{**anna, 'type': 'animal'}, {**nurse, 'value': 'a Nurse'}, *rest, *wrong])}"

    with LLMServer(ListingModel(spoil=spoilt)) as server:
        (findings,) = ListingBench(tmp_path, server).examine([TEXT])
    assert told(TEXT, findings) == [("a nurse", "occupation", "low"), *FOUND[2:]]
    assert reasons(findings) == [
        ("unknown_type", "Anna"),
        ("altered", "a Nurse"),
        ("invented", "Bob"),
        ("inside_word", "nurs"),
        ("too_often", "Łódź"),
    ]
    assert (findings.set_aside[1].start, findings.set_aside[1].end) == (8, 15)


def test_a_document_without_a_usable_answer_fails_and_others_do_not(tmp_path):
    def spoilt(request, reply):
        return "I would rather not." if "Anna" in request.user else reply

    with LLMServer(ListingModel(spoil=spoilt)) as server:
        bad, good = ListingBench(tmp_path, server).examine([TEXT, "my asthma"])
        assert server.requests == 3 + 1
        again = [body["input"][0]["content"] for body in server.bodies[2:]]
        assert all(one.startswith("Your previous answer could not be used: it has no JSON list") and one.endswith(TEXT) for one in again)
    assert bad.failed is not None
    assert bad.failed.startswith("no usable answer came (no_list, attempts: 3): it has no JSON list")
    assert (list(bad.spans), list(bad.set_aside)) == ([], [])
    assert told("my asthma", good) == [("asthma", "health", "high")]


def test_of_a_reply_that_is_always_cut_whole_entries_stay(tmp_path):
    with LLMServer(ListingModel(), schedule=lambda _: Fault(kind="truncation")) as server:
        (findings,) = ListingBench(tmp_path, server, attempts=2).examine([TEXT])
        assert server.requests == 2
    assert told(TEXT, findings) == FOUND[:2]
    assert [(one.reason, one.start, one.end) for one in findings.set_aside] == [("cut_off", 0, len(TEXT))]


def test_a_long_text_is_read_in_pieces_at_sentence_ends_and_a_value_counts_everywhere(tmp_path):
    text = "Nothing here at all. " * 12 + "Anna came. " + "Then nothing again. " * 12 + "It was Anna's idea. "

    def once(request, reply):  # what one piece tells is taken in the others, too
        return reply if "Anna came" in request.user else "[]"

    with LLMServer(ListingModel(spoil=once)) as server:
        bench = ListingBench(tmp_path, server)
        (findings,) = bench.examine([text], detector=bench.capid(chunk_chars=200))
        pieces = [body["input"][0]["content"].partition("Text:\n")[2] for body in server.bodies]
    assert len(pieces) == 3
    assert all(piece.endswith(".") and len(piece) <= 200 for piece in pieces)
    assert told(text, findings) == [("Anna", "name", "low")] * 2


@pytest.mark.long
def test_faults_cost_no_document_and_nothing_is_asked_twice(tmp_path):
    texts = [f"{TEXT} {number}" for number in range(40)]
    kinds = ("rate_limit", "server_error", "cut", "bad_json_body", "overloaded")
    with LLMServer(ListingModel(), schedule=lambda at: Fault(kind=kinds[at % 5]) if at and at % 3 == 0 else None) as server:
        bench = ListingBench(tmp_path, server)
        assert [told(text, one) for text, one in zip(texts, bench.examine(texts), strict=True)] == [FOUND] * 40
        asked = server.requests
        bench.examine(texts)
        assert server.requests == asked
    ((status, paid),) = bench.runs()
    assert (status, paid.answered) == ("finished", 40)


def test_settings_of_the_registry(tmp_path):
    with LLMServer(ListingModel(wrong=["nurse"])) as server:
        model = ListingBench(tmp_path, server).model
        detector = make_detector(DetectorSettings(detector="capid", model=model, verify=1), policy=QUICK)
        assert isinstance(detector, ModelDetector)
        assert [TEXT[one.start : one.end] for one in detector.detect(TEXT, "en_US", "Can I?")] == [
            value for value, *_ in FOUND if value != "nurse"
        ]
        none = make_detector(DetectorSettings(detector="capid", model=model, threshold=0.9), policy=QUICK)
        assert none.detect(TEXT, "en_US", "Can I?") == []
    with pytest.raises(UsageError, match="asks a model"):
        DetectorSettings(detector="capid")
    with pytest.raises(UsageError, match="--verify asks a model"):
        DetectorSettings(detector="patterns", verify=2)


class Finder:
    """Finds ``KNOWN`` values, as a detector without a model does; counts how many texts it was given at once."""

    name = "finder"

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.batches: list[int] = []

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:
        return self.examine_batch([Text(text, locale, question)])[0].spans

    def examine_batch(self, texts: Sequence[Text]) -> list[Findings]:
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
        assert {body["instructions"] for body in server.bodies} == {verifying(reasoned=reasoned)}
    assert [one.entity_type for one in findings.spans] == ["health", "location"]
    assert reasons(findings) == [("refused_by_verifier", "Anna"), ("refused_by_verifier", "nurse")]
    assert [one.note for one in findings.set_aside] == (
        [f"“{value}” is what it is." for value in ("Anna", "nurse")] if reasoned else ["", ""]
    )
    assert [(one.start, one.end) for one in findings.set_aside] == [(0, 4), (10, 15)]
    assert sent == {verifier_message(TEXT, "Can I?", one.start, one.end, one.entity_type) for one in _spans(TEXT)}


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
    texts = [f"{TEXT} {number}" for number in range(30)]
    finder = Finder(failing=texts[3])
    with LLMServer(ListingModel()) as server:
        bench = ListingBench(tmp_path, server)
        found = bench.examine(texts, detector=bench.verified(finder))
        assert server.requests == 4 * 29
    assert [one.failed for one in found] == ["no" if number == 3 else None for number in range(30)]
    assert sum(finder.batches) == 30
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


def test_detector_and_verifier_are_one_run_with_one_budget(tmp_path):
    with LLMServer(ListingModel(wrong=["nurse"])) as server:
        bench = ListingBench(tmp_path, server)
        detector = bench.verified(bench.capid(), reasoned=True)
        bench.examine([TEXT], detector=detector)
        assert server.requests == 1 + 6
        assert detector.totals.answered == 7
        with pytest.raises(UsageError, match="not connected"):
            asyncio.run(bench.capid().examine_async(TEXT, "en_US"))
    assert [(status, paid.answered) for status, paid in bench.runs()] == [("finished", 7)]
    assert replace(bench.model, attempts=2).identity != bench.model.identity
