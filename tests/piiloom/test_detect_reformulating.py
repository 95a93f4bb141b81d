"""The baseline of Ngong et al. over real HTTP, its stand-in, and their figures, which have no types."""

from __future__ import annotations

import json

import pytest

from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.registry import make_detector
from piiloom.evaluation.evaluating import EvaluationSettings, run_evaluation
from tests.detection.listing_model import QUICK, ListingBench, told
from tests.fakes.llm_server import Fault, LLMServer

TEXT = "I am Anna, a nurse with asthma. The asthma is bad, and I live in Łódź."
QUESTION = "May I work at night?"


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")


def divided(related=("nurse", "asthma"), other=("Anna", "Łódź")):
    return {"intent": "To know whether night work is allowed.", "related_context": list(related), "not_related_context": list(other)}


def detector(folder, server, **options):
    given = ListingBench(folder, server).model.given() | options
    return make_detector(DetectorSettings(detector="reformulating", **given), policy=QUICK)


def test_details_get_the_relevance_of_their_part_and_no_type(tmp_path):
    seen = []

    def answer(request):
        seen.append((request.schema_name, json.loads(request.user.partition("\n\n")[0])))
        return divided()

    with LLMServer(answer) as server:
        findings = detector(tmp_path, server).examine(TEXT, "en_US", QUESTION)
        without = detector(tmp_path, server).examine(TEXT, "en_US")
    assert told(TEXT, findings) == [
        ("Anna", "untyped", "low"),
        ("nurse", "untyped", "high"),
        ("asthma", "untyped", "high"),
        ("asthma", "untyped", "high"),
        ("Łódź", "untyped", "low"),
    ]
    assert {one.detector for one in findings.spans} == {"reformulating"}
    assert not findings.set_aside
    assert [relevance for *_, relevance in told(TEXT, without)] == [None] * 5, "without a question there is no intent"
    assert seen == [("detect_reformulating", {"text": TEXT, "question": asked}) for asked in (QUESTION, "")]


def test_faulty_answers_are_counted_or_fail(tmp_path):
    replies = {
        "Anna is here": divided(["Anna", " ", "Bob"], ["Anna"]),
        "Anna was here": {"intent": "x", "related_context": [], "not_related_context": []},
        "Anna left": "I would rather not.",
    }
    with LLMServer(lambda request: replies[json.loads(request.user.partition("\n\n")[0])["text"]]) as server:
        found = [detector(tmp_path, server).examine(text, "en_US", QUESTION) for text in replies]
    assert [told(text, one) for text, one in zip(replies, found, strict=True)] == [[("Anna", "untyped", "high")], [], []]
    assert [(one.reason, one.value) for one in found[0].set_aside] == [("empty", " "), ("in_both", "Anna"), ("invented", "Bob")]
    assert found[2].failed is not None
    assert found[2].failed.startswith("no usable answer came (invalid_reply, attempts: 3)")


def test_of_an_answer_that_is_always_cut_whole_details_stay(tmp_path):
    text = "I am a nurse. We live in Leeds."
    with LLMServer(lambda _: divided(["nurse"], ["Anna"] * 9), schedule=lambda _: Fault(kind="truncation")) as server:
        findings = detector(tmp_path, server, max_attempts=1).examine(text, "en_US", QUESTION)
    assert told(text, findings) == [("nurse", "untyped", "high")]
    assert {one.reason for one in findings.set_aside} == {"cut_off", "invented"}, "halves of the text were asked about, too"


def test_from_the_command_to_figures_without_types(cli, tmp_path):
    """The figures are those of the scheme of the paper; a stand-in is named where its figures are, and utility reads the result."""
    at = {value: TEXT.index(value) for value in ("Anna", "nurse", "asthma", "Łódź")}
    labels = {"Anna": ("name", "low"), "nurse": ("occupation", "high"), "asthma": ("health", "high"), "Łódź": ("location", "high")}
    spans = [
        {"start": at[value], "end": at[value] + len(value), "text": value, "type": kind, "relevance": relevance}
        for value, (kind, relevance) in labels.items()
    ]
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"id": "a", "locale": "en_US", "context": TEXT, "question": QUESTION, "spans": spans}) + "\n")
    with LLMServer(lambda _: divided()) as server:
        words = ("--provider", "openai", "--model", "gpt-6-luna", "--base-url", server.openai_url, "--yes", "--unpriced")
        outcome = cli(
            "detect", gold, "--detector", "reformulating", *words, "--out", tmp_path / "found", "--replies", tmp_path / "r.duckdb"
        )
    assert outcome.code == 0, outcome.err
    figures = run_evaluation(gold, tmp_path / "found" / "detected.jsonl", EvaluationSettings(schemes="capid"))
    overall = figures.of("capid").overall
    assert {name: overall[name] for name in ("span_precision", "span_recall", "coverage", "type_accuracy", "relevance_accuracy")} == {
        "span_precision": 1.0,
        "span_recall": 1.0,
        "coverage": 1.0,
        "type_accuracy": None,
        "relevance_accuracy": 0.75,
    }
    assert figures.inputs.found.to_json()["without_type"] == 4
    assert "stand_ins" not in figures.inputs.found.to_json()
    utility = cli("utility", tmp_path / "found" / "detected.jsonl", "--json")
    assert (utility.code, json.loads(utility.out)["records"]) == (0, 1)

    outcome = cli("detect", gold, "--detector", "reformulating-stand-in", "--out", tmp_path / "rule")
    assert (outcome.code, "not looked for" in outcome.err) == (0, False)
    assert "reformulating-stand-in" in outcome.out
    outcome = cli("detect", "--to", "annotation", "--detector", "reformulating-stand-in", "--store", tmp_path / "none.duckdb")
    assert (outcome.code, "suggestions need types" in outcome.err) == (2, True)
    utility = cli("utility", tmp_path / "rule" / "detected.jsonl").out
    assert utility.startswith("utility of detected.jsonl, spans by reformulating-stand-in, a rule in the place of a model\n")
    outcome = cli("evaluate", gold, tmp_path / "rule" / "detected.jsonl", "--scheme", "capid")
    assert "by reformulating-stand-in, a rule in the place of a model, " in outcome.out
    outcome = cli(
        "compare", gold, f"rule={tmp_path / 'rule' / 'detected.jsonl'}", "--scheme", "capid", "--format", "md", "--permutations", 9
    )
    assert "by reformulating-stand-in, a rule in the place of a model, " in outcome.out


def test_the_stand_in_divides_sentences_by_the_words_of_the_question():
    rule = make_detector(DetectorSettings(detector="reformulating-stand-in"))
    text = "Write to ann@example.org about the night shift. My own address is bo@example.org."
    spans = rule.detect(text, "en_US", "May I refuse the night?")
    assert [(text[one.start : one.end], one.entity_type, one.relevance, one.detector) for one in spans] == [
        ("ann@example.org", "untyped", "high", "reformulating-stand-in"),
        ("bo@example.org", "untyped", "low", "reformulating-stand-in"),
    ]
    assert {one.relevance for one in rule.detect(text, "en_US")} == {None}
