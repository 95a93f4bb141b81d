"""Training sets for verifiers whose reasonings a model writes: tries, defaults, money, and the form of the export."""

from __future__ import annotations

import json
import re

import pytest

from piiloom.cli.train import verifier_data
from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.verifier import FILES, VerifierFormat
from piiloom.detection.training.training_data import read_input
from piiloom.detection.training.training_options import TrainingInput
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.errors import DataError, OutputError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.detection.training_rows import row, write_jsonl
from tests.fakes.llm_server import LLMServer
from tests.providers.provider_calls import MODELS

_CANDIDATE = re.compile(r"Type: (\w+).*<candidate>(.*?)</candidate>", re.DOTALL)
TRUE = {"asthma": "health", "baker": "occupation"}


class Reasoner:
    """Says what is true of the rows, from the *first* try on; before it says the contrary. ``spoil`` changes replies."""

    def __init__(self, first=lambda right: 1, spoil=lambda reply, tries: reply):
        self.first, self.spoil = first, spoil
        self.tries = {}

    def __call__(self, request):
        kind, value = _CANDIDATE.search(request.user).groups()
        right = TRUE.get(value.rstrip("0123456789")) == kind
        tries = self.tries[request.user] = self.tries.get(request.user, 0) + 1
        said = right if tries >= self.first(right) else not right
        return self.spoil(json.dumps({"reasoning": f"try {tries}", "answer": "T" if said else "F"}), tries)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")


@pytest.fixture
def make(tmp_path, capsys):
    """Make the sets of *count* records with *model* behind a server; returns what is told and all rows. ``make.asked``: what was asked."""
    with LLMServer(Reasoner()) as server:

        def make(model, /, count=2, **options):
            data = write_jsonl(tmp_path / "train.jsonl", (row(number) for number in range(count)))
            chosen = {"provider": "openai", "model": MODELS["openai"], "base_url": server.openai_url, "replies": tmp_path / "s.duckdb"}
            chosen |= {name: options.pop(name) for name in chosen if name in options}
            given = {"unpriced": True, "yes": True, "as_json": True, "validation_size": "0", "concurrency": 2, **options}
            server.answer, before, out = model, server.requests, tmp_path / "out"
            try:
                verifier_data(out=out, train=[data], **chosen, **given)
            finally:
                make.asked = server.bodies[before:]
            return json.loads(capsys.readouterr().out), [rows(out / "train" / name) for name in FILES]

        yield make


def found(number, *mentions):
    """A row as ``piiloom detect`` writes it, with *mentions*: (text, type)."""
    context = row(number)["context"]
    at = [(context.index(text), text, kind) for text, kind in mentions]
    spans = [{"start": n, "end": n + len(text), "text": text, "type": kind, "score": 0.9, "detector": "d"} for n, text, kind in at]
    return {**row(number), "question": None, "spans": spans}


def rows(path):
    said = (json.loads(line)["messages"] for line in path.read_text(encoding="utf-8").splitlines())
    return [tuple(message["content"] for message in messages) for messages in said]


def split_of(told):
    return told["splits"]["train"]


def test_the_rows_are_those_of_the_export_with_reasonings_of_the_model(make, tmp_path):
    told, (labels, reasons) = make(Reasoner(first=lambda right: 1 if right else 3))
    assert (len(make.asked), told["cost"]["answered"]) == (4 + 3 * 4, 4 + 3 * 4)
    assert split_of(told) | {"wrong candidates by kind": {}} == {
        "rows": 8,
        "T": 4,
        "F": 4,
        "wrong candidates by kind": {},
        "reasonings": {"by the model": 8, "T by default": 0, "by rule": 0},
        "right at try": {"1": 4, "3": 4},
        "wrong candidates taken for right": 0,
        "dropped": 0,
        "spans without rows": 0,
    }
    records = read_input(TrainingInput(train=(tmp_path / "train.jsonl",), validation_size=0)).train
    VerifierFormat().write(records, tmp_path / "export", WriteOptions(taxonomy=shipped_taxonomy()))
    exported = [rows(tmp_path / "export" / name) for name in FILES]
    assert labels == exported[0]
    answers = [[(*asked, json.loads(said)["answer"]) for *asked, said in made] for made in (reasons, exported[1])]
    assert answers[0] == answers[1]
    assert {json.loads(row[2])["reasoning"] for row in reasons} == {"try 1", "try 3"}
    # Whoever is told that the verdict is wrong knows the right one.
    assert not any("could not be used" in body["input"][0]["content"] for body in make.asked)


@pytest.mark.long
def test_without_a_right_verdict_in_six_tries_the_answer_is_t(make):
    told, (labels, reasons) = make(Reasoner(first=lambda right: 99))
    assert len(make.asked) == 6 * 8
    assert split_of(told)["reasonings"] == {"by the model": 0, "T by default": 8, "by rule": 0}
    assert (split_of(told)["T"], split_of(told)["F"], split_of(told)["wrong candidates taken for right"]) == (8, 0, 4)
    assert [answer for *_, answer in labels] == ["T"] * 8
    said = [json.loads(answer) for *_, answer in reasons]
    assert [one["answer"] for one in said] == ["T"] * 8
    # A wrong candidate has what the model said for it; what it said against a right one would contradict the answer.
    assert [one["reasoning"] for one in said].count("try 6") == 4
    assert sum("asthma" in one["reasoning"] or "baker" in one["reasoning"] for one in said) == 4


def test_doubtful_candidates_can_be_dropped(make):
    told, (labels, reasons) = make(Reasoner(first=lambda right: 1 if right else 99), default="drop", max_attempts=2)
    assert len(make.asked) == 4 + 2 * 4
    assert (split_of(told)["rows"], split_of(told)["dropped"], len(labels), len(reasons)) == (4, 4, 4, 4)


def test_where_no_reply_is_usable_the_rules_write(make):
    told, (labels, reasons) = make(Reasoner(spoil=lambda reply, tries: "T"), max_attempts=2)
    assert split_of(told)["reasonings"] == {"by the model": 0, "T by default": 0, "by rule": 8}
    assert [answer for *_, answer in labels] == ["T", "F"] * 4
    assert all(json.loads(answer)["reasoning"] for *_, answer in reasons)
    assert any("say first what the text shows" in body["input"][0]["content"] for body in make.asked)


def test_findings_are_right_or_wrong_by_the_gold(make, tmp_path):
    mentions = [("asthma0", "health"), ("work", "occupation"), ("a baker0", "occupation")]
    predictions = write_jsonl(tmp_path / "found.jsonl", [found(0, *mentions), found(1, ("asthma1", "name"))])
    told, (labels, reasons) = make(Reasoner(), count=3, predictions=predictions, invented=False)
    assert [(_CANDIDATE.search(asked).groups(), answer) for _, asked, answer in labels] == [
        (("health", "asthma0"), "T"),
        (("occupation", "work"), "F"),
        (("occupation", "a baker0"), "F"),
        (("name", "asthma1"), "F"),
    ]
    assert split_of(told)["findings"] == {"T": 1, "F": 3, "spans not found": 5, "records without a row": 1}
    assert split_of(told)["wrong candidates by kind"] == {"boundary": 1, "no span": 1, "other type": 1}
    # Beside them the invented ones, but for the span that was found.
    both, (more, _) = make(Reasoner(), count=3, predictions=predictions, force=True)
    assert (split_of(both)["rows"], split_of(both)["findings"]) == (4 + 2 * 6 - 1, split_of(told)["findings"])
    assert {asked for _, asked, _ in labels} < {asked for _, asked, _ in more}
    assert len({asked for _, asked, _ in more}) == len(more)
    # The model takes a wrong finding for right six times: T by default.
    doubted, (_, reasons) = make(Reasoner(first=lambda right: 99), count=3, predictions=predictions, invented=False, force=True, seed=8)
    assert len(make.asked) == 4 * 6
    assert [json.loads(answer)["answer"] for *_, answer in reasons] == ["T"] * 4
    assert split_of(doubted)["wrong candidates taken for right"] == 3


def test_without_a_model_rules_reason_and_nothing_is_sent(make, tmp_path):
    predictions = write_jsonl(tmp_path / "found.jsonl", [found(0, ("work", "name"), ("I have asthma0", "health"), ("baker0", "age"))])
    model = {"provider": None, "model": None, "base_url": None}
    told, (labels, reasons) = make(Reasoner(), predictions=predictions, invented=False, **model)
    assert (len(make.asked), told["by"], told["cost"]["run"]) == (0, "rules", None)
    assert [answer for *_, answer in labels] == ["F"] * 3
    said = [json.loads(answer)["reasoning"] for *_, answer in reasons]
    assert "“I have” does not belong to the value" in said[0]
    assert "What the text tells of" not in said[1]  # it has no name
    assert "occupation" in said[2]
    with pytest.raises(UsageError, match="there would be no candidate"):
        make(Reasoner(), invented=False, force=True)
    with pytest.raises(UsageError, match="no model is asked"):
        make(Reasoner(), provider=None, force=True)
    for bad, fault in ((found(0) | {"context": "x", "spans": []}, "another text"), (found(9), "no row is of a text to train on")):
        with pytest.raises(DataError, match=fault):
            make(Reasoner(), predictions=write_jsonl(tmp_path / "bad.jsonl", [bad]), force=True, **model)


@pytest.mark.long
def test_a_budget_stops_it_and_the_same_command_goes_on(make, tmp_path):
    model = Reasoner()
    with pytest.raises(BudgetReached, match="budget"):
        make(model, price="input=1000,output=1000", unpriced=False, budget_usd=3.0)
    before = len(make.asked)
    assert 0 < before < 8
    assert not (tmp_path / "out").exists()
    told, _ = make(model, price="input=1000,output=1000", unpriced=False, budget_usd=99.0)
    assert before + len(make.asked) == 8 == told["cost"]["answered"]


def test_what_was_paid_for_is_not_asked_again(make, tmp_path):
    first, files = make(Reasoner())
    told, again = make(Reasoner(), force=True, concurrency=5)
    assert len(make.asked) == 0
    assert (again, told["splits"]) == (files, first["splits"])
    with pytest.raises(OutputError, match="not empty"):
        make(Reasoner())


def test_nothing_is_sent_for_what_makes_no_sense(make):
    with pytest.raises(UsageError, match="is no default"):
        make(Reasoner(), default="F")
    with pytest.raises(UsageError, match="must be confirmed"):
        make(Reasoner(), yes=False)
    assert len(make.asked) == 0
