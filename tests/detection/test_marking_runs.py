"""The detector "markers" over real HTTP and the real SDKs: the form of the export, examples, pieces, halves, what is lost and told."""

from __future__ import annotations

import os
import re

import pytest

from piiloom.corpus.formats.instruction_tuning import marking, message
from piiloom.corpus.record import Record, Span
from piiloom.detection.detector import ModelDetector
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.marking.marking_detector import Shots
from piiloom.detection.registry import make_detector
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.detection.listing_model import told
from tests.detection.marking_model import MarkingBench, MarkingModel
from tests.fakes.llm_server import Fault, LLMServer
from tests.longer import mostly_long
from tests.providers.provider_calls import NAMES

TEXT = "Anna is a nurse with asthma in Łódź. Asthma since <b>1990</b>, her asthma."
FOUND = [
    ("Anna", "name", "low"),
    ("nurse", "occupation", "low"),
    ("asthma", "health", "high"),
    ("Łódź", "location", "high"),
    ("asthma", "health", "high"),
]
SENTENCE = "Anna went on and on about the same old thing, as one does. "


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    for name in [name for name in os.environ if name.startswith(("OPENAI_", "ANTHROPIC_", "PIILOOM_"))]:
        monkeypatch.delenv(name)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-test-0123456789-abcdefghij")


def reasons(findings):
    return [(one.reason, one.value) for one in findings.set_aside]


@pytest.mark.parametrize("name", mostly_long(NAMES, {"openai"}))
def test_it_asks_as_the_export_trains(tmp_path, name):
    with LLMServer(MarkingModel()) as server:
        bench = MarkingBench(tmp_path, server, name)
        (findings,) = bench.examine([TEXT])
        bodies = server.bodies
        (plain,) = bench.examine([TEXT], question=None)
        assert server.requests == 2
    assert told(TEXT, findings) == FOUND
    assert not findings.set_aside
    assert {(span.score, span.detector, span.subtype) for span in findings.spans} == {(0.75, "markers", None)}
    assert told(TEXT, plain) == [(value, kind, None) for value, kind, _ in FOUND]
    if name == "openai":
        assert bodies[0]["instructions"] == marking(relevance=True, taxonomy=shipped_taxonomy())
        assert bodies[0]["input"] == [{"role": "user", "content": message(TEXT, "Can I?")}]
        assert "text" not in bodies[0]  # a schema would be another form
        assert bodies[0]["max_output_tokens"] > len(TEXT.encode())


def test_examples_are_turns_before_the_text(tmp_path):
    spans = (Span(id="0", start=0, end=3, entity_type="name", relevance="low"),)
    shots = Shots(
        [Record(id="r", context="Bob ran.", question="Why?", spans=spans)], 4, seed=7, longest=4000, where="f", taxonomy=shipped_taxonomy()
    )
    with LLMServer(MarkingModel()) as server:
        bench = MarkingBench(tmp_path, server)
        (findings,) = bench.examine([TEXT], detector=bench.detector(shots=shots))
        (body,) = server.bodies
    assert told(TEXT, findings) == FOUND
    assert body["input"] == [
        {"role": "user", "content": "Question: Why?\nText:\nBob ran."},
        {"role": "assistant", "content": "<name low>Bob</name> ran."},
        {"role": "user", "content": message(TEXT, "Can I?")},
    ]


def test_what_a_model_alters_is_told_with_places_of_the_text(tmp_path):
    def spoilt(_, __, reply):
        return reply.replace(">Anna<", ">ANNA<").replace("nurse</occupation>", "nurse").replace(">Łódź<", ">Lodz<")

    shift = len(SENTENCE)
    with LLMServer(MarkingModel(spoilt)) as server:
        bench = MarkingBench(tmp_path, server)
        (findings,) = bench.examine([f"{SENTENCE}{TEXT}"], detector=bench.detector(chunk_chars=len(TEXT) + 3))
        assert server.requests == 2
    assert told(f"{SENTENCE}{TEXT}", findings) == [FOUND[0], FOUND[0], FOUND[2], FOUND[4]]
    assert [span.score for span in findings.spans] == [0.6, 0.6, 0.75, 0.75]
    assert reasons(findings) == [("respelled_value", "ANNA"), ("unclosed", ""), ("altered_value", "Lodz"), ("respelled_value", "ANNA")]
    altered = findings.set_aside[2]
    assert (altered.start, altered.end) == (shift + TEXT.index("Łódź"), shift + TEXT.index("Łódź") + 4)


def test_a_long_text_is_asked_in_pieces_that_part_nothing(tmp_path):
    text = SENTENCE * 20 + "Call +1 202 555 0123 now " * 20 + TEXT
    whole = [hit.span() for hit in re.finditer(r"\+1 202 555 0123", text)]
    with LLMServer(MarkingModel()) as server:
        bench = MarkingBench(tmp_path, server)
        (findings,) = bench.examine([text], detector=bench.detector(chunk_chars=220, whole=lambda *_: whole))
        asked = [message["content"].partition("Text:\n")[2] for body in server.bodies for message in body["input"]]
    assert len(told(text, findings)) == 20 + len(FOUND)
    assert sum(one.count("+1 202 555 0123") for one in asked) == 20
    assert all(len(one) <= 220 for one in asked)


def test_a_piece_whose_answer_is_cut_off_is_asked_in_halves(tmp_path):
    text = SENTENCE * 6 + TEXT
    with LLMServer(MarkingModel(), schedule=lambda ordinal: Fault(kind="truncation") if ordinal == 0 else None) as server:
        bench = MarkingBench(tmp_path, server)
        (findings,) = bench.examine([text])
        asked = server.requests
        assert 3 <= asked <= 4  # once, then in halves, which end with sentences
        (again,) = bench.examine([text])
        assert server.requests == asked  # the store has all replies
    assert told(text, findings) == [FOUND[0]] * 6 + FOUND
    assert reasons(findings) == [("asked_in_halves: truncated", "")]
    assert again == findings


def test_a_text_that_cannot_be_halved_any_more_has_failed(tmp_path):
    with LLMServer(MarkingModel(), schedule=lambda ordinal: Fault(kind="truncation") if ordinal < 9 else None) as server:
        bench = MarkingBench(tmp_path, server)
        (findings,) = bench.examine([SENTENCE * 12])
    assert (findings.spans, findings.set_aside) == ((), ())
    assert findings.failed is not None
    assert findings.failed.startswith("no usable answer came (truncated, attempts: 1)")


def test_an_answer_that_is_not_the_text_is_asked_again_and_then_in_halves(tmp_path):
    faults = []

    def spoilt(request, text, reply):
        faults.append("could not be used: it does not give the text back" in request.user)
        return "There is nothing personal here." if len(text) > 300 else reply

    text = SENTENCE * 8
    with LLMServer(MarkingModel(spoilt)) as server:
        (findings, short) = MarkingBench(tmp_path, server, max_attempts=2).examine([text, "Hi there, Bob!"])
    assert told(text, findings) == [FOUND[0]] * 8
    assert reasons(findings) == [("asked_in_halves: not_the_text", "")]
    assert sum(faults) == 1
    assert short.spans == []


def test_blank_texts_are_not_asked_about(tmp_path):
    with LLMServer(MarkingModel()) as server:
        findings = MarkingBench(tmp_path, server).examine(["", " \n "])
        assert server.requests == 0
    assert [one.spans for one in findings] == [[], []]


def test_it_is_made_by_name(tmp_path):
    with LLMServer(MarkingModel()) as server:
        settings = DetectorSettings(detector="markers", **MarkingBench(tmp_path, server).model.given(), threshold=0.7)
        detector = make_detector(settings)
        assert isinstance(detector, ModelDetector)
        assert told(TEXT, detector.examine(TEXT, "xx_XX", "Can I?")) == FOUND
