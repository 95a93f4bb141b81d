"""Training sets for verifiers whose reasonings a model writes: tries, defaults, money, and the form of the export."""

from __future__ import annotations

import json
import re

import pytest

from piiloom.cli.train_options import VerifierCommand
from piiloom.cli.train_verifier_running import make_and_report
from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.verifier import FILES, VerifierFormat
from piiloom.detection.training.training_data import TrainingChoice, read_training
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.errors import OutputError, UsageError
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

        def make(model, count=2, **options):
            data = write_jsonl(tmp_path / "train.jsonl", (row(number) for number in range(count)))
            chosen = {"provider": "openai", "model": MODELS["openai"], "base_url": server.openai_url, "store": tmp_path / "s.duckdb"}
            given = {"unpriced": True, "yes": True, "as_json": True, "validation_size": "0", "concurrency": 2, **options}
            server.answer, before, out = model, server.requests, tmp_path / "out"
            try:
                make_and_report(VerifierCommand(out=out, train=[data], **chosen, **given))
            finally:
                make.asked = server.bodies[before:]
            return json.loads(capsys.readouterr().out), [rows(out / "train" / name) for name in FILES]

        yield make


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
    records = read_training(TrainingChoice(train=(tmp_path / "train.jsonl",), validation_size=0)).train
    VerifierFormat().write(records, tmp_path / "export", WriteOptions(taxonomy=shipped_taxonomy()))
    exported = [rows(tmp_path / "export" / name) for name in FILES]
    assert labels == exported[0]
    answers = [[(*asked, json.loads(said)["answer"]) for *asked, said in made] for made in (reasons, exported[1])]
    assert answers[0] == answers[1]
    assert {json.loads(row[2])["reasoning"] for row in reasons} == {"try 1", "try 3"}
    # Whoever is told that the verdict is wrong knows the right one.
    assert not any("could not be used" in body["input"][0]["content"] for body in make.asked)


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
    told, (labels, reasons) = make(Reasoner(first=lambda right: 1 if right else 99), default="drop", attempts=2)
    assert len(make.asked) == 4 + 2 * 4
    assert (split_of(told)["rows"], split_of(told)["dropped"], len(labels), len(reasons)) == (4, 4, 4, 4)


def test_where_no_reply_is_usable_the_rules_write(make):
    told, (labels, reasons) = make(Reasoner(spoil=lambda reply, tries: "T"), attempts=2)
    assert split_of(told)["reasonings"] == {"by the model": 0, "T by default": 0, "by rule": 8}
    assert [answer for *_, answer in labels] == ["T", "F"] * 4
    assert all(json.loads(answer)["reasoning"] for *_, answer in reasons)
    assert any("say first what the text shows" in body["input"][0]["content"] for body in make.asked)


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
