"""The detector "capid" over real HTTP and the real SDKs: the form of the exports, faults, money, what is lost and told."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace

import pytest

from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.capid import REPEATED, CapidAlpacaFormat
from piiloom.corpus.formats.instruction_tuning import extracting, message
from piiloom.detection.detector import ModelDetector
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.registry import make_detector
from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.corpus.training_rows import bare, record_of, rows_of, shared_records
from tests.detection.listing_model import QUICK, ListingBench, ListingModel, told
from tests.fakes.llm_server import Fault, LLMServer

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


def test_it_asks_as_the_exports_train(tmp_path):
    with LLMServer(ListingModel()) as server:
        bench = ListingBench(tmp_path, server)
        (findings,) = bench.examine([TEXT])
        bodies = server.bodies
        (plain,) = bench.examine([TEXT], question=None)
        assert server.requests == 2
    assert told(TEXT, findings) == FOUND
    assert not findings.set_aside
    assert told(TEXT, plain) == [(value, kind, None) for value, kind, _ in FOUND]
    assert bodies[0]["instructions"] == extracting(relevance=True, taxonomy=shipped_taxonomy())
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


def test_a_list_too_long_for_an_answer_is_asked_for_in_halves(tmp_path):
    text = f"{TEXT} Anna has asthma. "
    with LLMServer(ListingModel(), schedule=lambda at: Fault(kind="truncation") if at < 1 else None) as server:
        (findings,) = ListingBench(tmp_path, server, max_attempts=2).examine([text])
        halves = [body["input"][0]["content"].partition("Text:\n")[2] for body in server.bodies[1:]]
    assert sorted(halves) == ["Anna has asthma.", "Anna is a nurse with asthma in Łódź.", "Asthma since 1990, her asthma."]
    assert told(text, findings) == [*FOUND, ("Anna", "name", "low"), ("asthma", "health", "high")]
    assert not findings.set_aside


def test_of_an_answer_that_is_always_cut_whole_entries_stay(tmp_path):
    text = "Anna is a nurse with asthma in Łódź"
    with LLMServer(ListingModel(), schedule=lambda _: Fault(kind="truncation")) as server:
        (findings,) = ListingBench(tmp_path, server, max_attempts=1).examine([text])
    assert told(text, findings) == FOUND[:2]
    assert [(one.reason, one.start, one.end) for one in findings.set_aside] == [("cut_off", 0, len(text))]


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


def test_the_form_of_the_published_models_comes_back_and_what_it_cannot_express_is_in_the_loss_report(tmp_path):
    """A perfect model answers with the output of the export; spans then equal the gold, or the loss report has the record."""
    records = [
        *(replace(one, id=str(number)) for number, one in enumerate(shared_records()[:40])),
        replace(record_of("Age 34, soon 35, not 34.", ("34", "age", "high"), ("34", "age", "high")), id="short"),
        replace(record_of("A 34F.", ("34", "age", "low"), ("F", "demographic", "high")), id="seam"),
        replace(record_of("May in May", ("May", "name", "low"), ("May", "datetime", "high")), id="disagree"),
        replace(record_of("flu and flu", ("flu", "health", "low")), id="unmarked"),
        replace(record_of("nothing at all"), id="empty"),
    ]
    options = WriteOptions(taxonomy=shipped_taxonomy())
    report = CapidAlpacaFormat().write(records, tmp_path / "rows.jsonl", options)
    rows = rows_of(tmp_path / "rows.jsonl")
    gold = {row["input"].rstrip(): row["output"] for row in rows}  # prompts end without white space
    assert len(gold) == len(records)

    def perfect(request):
        assert request.system == rows[0]["instruction"]
        return gold[request.user]

    async def examined(detector):
        async with detector:
            return await asyncio.gather(*(detector.examine_async(one.context, "en_US", one.question, item_id=one.id) for one in records))

    with LLMServer(perfect) as server:
        found = asyncio.run(examined(ListingBench(tmp_path, server).capid(form="capid")))
    differing = [
        one.id
        for one, findings in zip(records, found, strict=True)
        if [(s.start, s.end, s.entity_type, s.relevance) for s in findings.spans] != bare(one)[2]
    ]
    assert not any(findings.set_aside or findings.failed for findings in found)
    assert differing == ["disagree", "unmarked"]
    assert {entry.record_id for entry in report.entries if entry.reason != REPEATED} == set(differing)


def test_answers_in_the_form_of_the_published_models_are_counted_where_they_are_faulty(tmp_path):
    may = '"May": {"type": "name", "relevance": "0"}'
    replies = {
        "May likes May": f'{{{may}, "May": {{"type": "datetime", "relevance": "1"}}}}',
        "May likes tea": f'{{{may}, "May": {{"type": "datetime", "relevance": "1"}}, "Bob": {{"type": "name", "relevance": "0"}}}}',
        "May, May, May": f"Sure: {{{may}}}",
        "May has asthma": "May is a name; asthma is an illness.",
        "May has nothing": '{"May": {"type": "animal", "relevance": "0"}}',
    }

    def answer(request):
        text = request.user.rpartition("Text: ")[2].partition("\n")[0]
        return replies[text]

    with LLMServer(answer) as server:
        bench = ListingBench(tmp_path, server)
        found = bench.examine(list(replies), detector=bench.capid(form="capid"))
        again = server.bodies[-1]["input"][0]["content"]
    assert [told(text, one) for text, one in zip(replies, found, strict=True)] == [
        [("May", "name", "low"), ("May", "datetime", "high")],
        [("May", "name", "low")],
        [("May", "name", "low")] * 3,
        [],
        [],
    ]
    assert [reasons(one) for one in found] == [[], [("too_often", "May"), ("invented", "Bob")], [], [], [("unknown_type", "May")]]
    assert [one.failed is not None for one in found] == [False, False, False, True, False]
    assert again.startswith("Your previous answer could not be used: it has no JSON object with a type and a relevance for each value")


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
        detector = make_detector(DetectorSettings(detector="capid", **model.given(), verify=1), policy=QUICK)
        assert isinstance(detector, ModelDetector)
        assert [TEXT[one.start : one.end] for one in detector.detect(TEXT, "en_US", "Can I?")] == [
            value for value, *_ in FOUND if value != "nurse"
        ]
        none = make_detector(DetectorSettings(detector="capid", **model.given(), threshold=0.9), policy=QUICK)
        assert none.detect(TEXT, "en_US", "Can I?") == []
    with pytest.raises(UsageError, match="asks a model"):
        DetectorSettings(detector="capid")
    with pytest.raises(UsageError, match="--form: it has no effect without --detector capid"):
        DetectorSettings(detector="patterns", form="capid")
    with pytest.raises(UsageError, match="--verify asks a model"):
        DetectorSettings(detector="patterns", verify=2)
