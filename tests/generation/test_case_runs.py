"""Runs by the recipe ``case``: texts with two questions, labels that have a ledger line and a judge who agrees."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from piiloom.corpus.store.database import Store
from piiloom.foundation.errors import UsageError
from tests.fakes.llm_server import LLMServer
from tests.generation.case_author import CaseAuthor
from tests.generation.llm_runs import config_for, read_back, set_keys, start


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    set_keys(monkeypatch)


def run(path, author, name="openai", **settings):
    with LLMServer(author) as server, Store.open(path) as store:
        progress = start(store, config_for(name, server, recipe="case", **settings))
        return progress, read_back(store), server.requests


def groups_of(records):
    found = defaultdict(list)
    for record in records:
        found[record.contrast_group].append(record)
    return list(found.values())


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_texts_have_two_questions_that_turn_on_different_values(tmp_path, name):
    progress, kept, _ = run(tmp_path / "s.duckdb", CaseAuthor(3), name)
    assert (progress.status, progress.accepted, kept.rejects) == ("finished", 12, [])
    for record in kept.records:
        assert all(not span.text_in(record.context)[0].isspace() and span.end <= len(record.context) for span in record.spans)
        assert {span.value_id for span in record.spans} >= {"v1", "v2"}
    for group in groups_of(kept.records):
        assert [len({getattr(record, part) for record in group}) for part in ("context", "question")] == [1, 2]
        one, other = ([span.relevance for span in record.spans] for record in group)
        assert one != other
        assert "high" in one
        assert "high" in other
    assert all(record.plan.rationale for record in kept.records)


def test_a_text_is_asked_for_once(tmp_path):
    _, kept, _ = run(tmp_path / "s.duckdb", CaseAuthor(3))
    asked = Counter((row.stage, row.item_id.partition("/")[0]) for row in kept.completions)
    posts = {item: number for (stage, item), number in asked.items() if stage == "post"}
    assert set(posts) == {str(index) for index in range(0, 12, 2)}
    assert set(posts.values()) == {1}


@pytest.mark.parametrize(("judge", "code"), [("contradicts", "contradicted"), ("unsure", "unsure")])
@pytest.mark.parametrize("policy", ["redo", "reject"])
def test_a_run_whose_judge_contradicts_every_label_accepts_nothing(tmp_path, judge, code, policy):
    progress, kept, _ = run(tmp_path / "s.duckdb", CaseAuthor(3, judge=judge), samples=4, on_disagreement=policy, stop_after=6)
    assert (progress.accepted, kept.records) == (0, [])
    assert {(row.stage, row.reason_code) for row in kept.rejects} == {("verdict", code)}


def test_a_question_that_is_contradicted_is_thought_up_once_more(tmp_path):
    progress, kept, _ = run(tmp_path / "s.duckdb", CaseAuthor(3, judge="comes round"), samples=4)
    assert (progress.status, len(kept.records)) == ("finished", 4)
    assert any(row.item_id.endswith("/again") for row in kept.completions)


def test_labels_may_become_the_judge_s(tmp_path):
    progress, kept, _ = run(tmp_path / "s.duckdb", CaseAuthor(3, judge="contradicts"), samples=4, on_disagreement="relabel")
    assert progress.accepted == 4
    for record in kept.records:
        assert sum(span.relevance == "low" for span in record.spans) >= 1
        assert sum(span.relevance == "high" for span in record.spans) >= 2


def test_the_composer_is_no_model(tmp_path):
    from piiloom.generation.configuration import make_config

    with pytest.raises(UsageError, match="the composer tells stories"):
        make_config({"recipe": "case"})
