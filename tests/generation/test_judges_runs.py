"""Whole runs with judges over the real SDKs: what is stored beside the records, and what a clumsy judge costs."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import disagreements, load_judgements
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.errors import RunError, UsageError
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import resume_run, start_run
from piiloom.generation.settings.setting_checks import make_config
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.fakes.llm_tricks import TRICKS
from tests.generation.llm_runs import Kept, check_exact, config_for, read_back, set_keys, start
from tests.longer import mostly_long

BOTH = ("relevance", "leak")
STAGES = ("judge_relevance", "judge_leak")
IN_ORDER = ("topics", "subtopics", "values", "situation", "peripheral", "question", "paraphrase", "spans", *STAGES, "screen")


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    set_keys(monkeypatch)


def values_of(record: Record) -> dict[str, str]:
    """The relevance of each value of the record."""
    return {str(span.value_id): str(span.relevance) for span in record.spans}


def check_judged(store: Store, kept: Kept) -> None:
    """Every value of every record has one judgement of each judge, which says what its score says and changed no label."""
    by_record = {record.id: record for record in kept.records}
    rows = load_judgements(store, kept.run.id)
    judged = Counter((row.record_id, row.judgement.kind, row.judgement.value_id) for row in rows)
    assert judged == Counter((record.id, kind, value) for record in kept.records for kind in BOTH for value in values_of(record))
    places = dict(zip(kept.indexes, (record.id for record in kept.records), strict=True))
    for row in rows:
        said, record = row.judgement, by_record[row.record_id]
        assert places[row.plan_index] == record.id
        first = next(span for span in record.spans if span.value_id == said.value_id)
        assert said.span_id == first.id
        assert said.score in {0.0, 0.25, 0.5, 0.75, 1.0}
        assert 0 < len(said.reason) <= 300
        assert (said.provider, said.model) == (kept.run.provider, kept.run.model)
        assert said.agrees == (said.verdict == said.planned)
        if said.kind == "relevance":
            assert (said.planned, said.verdict) == (first.relevance, "high" if said.score >= 0.75 else "low")
        else:
            assert said.planned == "nowhere"
            assert (said.verdict == "nowhere") == (said.score < 0.5)
            assert said.verdict != "sentence" or first.relevance == "low"
    flagged = disagreements(store, kept.run.id)
    assert set(flagged) == {row.record_id for row in rows if not row.judgement.agrees}


@pytest.mark.long
@pytest.mark.parametrize("name", mostly_long(["openai", "anthropic", "compatible"], quick={"openai"}))
def test_every_value_of_every_record_is_judged_by_both(name, tmp_path):
    with LLMServer(Author(1)) as server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for(name, server, samples=8, judges=BOTH))
        kept = read_back(store)
        assert progress.accepted == 8
        check_exact(kept.records)
        check_judged(store, kept)
        asked = Counter(entry.schema_name for entry in server.log)
        with_values = sum(1 for record in kept.records if record.spans)
        assert with_values <= asked["judge_relevance"] == asked["judge_leak"]
        assert {row.stage for row in kept.completions} >= set(STAGES)


@pytest.mark.long
def test_without_judges_nobody_is_asked_and_the_texts_are_the_same(tmp_path):
    texts = []
    for judges in ((), BOTH):
        with LLMServer(Author(1)) as server, Store.open(tmp_path / f"{len(judges)}.duckdb") as store:
            start(store, config_for("openai", server, judges=judges))
            kept = read_back(store)
            texts.append([(record.context, record.question, record.spans) for record in kept.records])
            asked = {entry.schema_name for entry in server.log} & set(STAGES)
            assert asked == (set(STAGES) if judges else set())
            assert bool(load_judgements(store)) == bool(judges)
    assert texts[0] == texts[1]


@pytest.mark.long
def test_judging_a_set_that_is_there_already_pays_for_the_judges_only(tmp_path):
    with LLMServer(Author(1)) as server, Store.open(tmp_path / "s.duckdb") as store:
        start(store, config_for("openai", server))
        paid = len(server.log)
        start(store, config_for("openai", server, judges=BOTH))
        assert {entry.schema_name for entry in server.log[paid:]} == set(STAGES)
        check_judged(store, read_back(store))


@pytest.mark.long
def test_the_stages_one_by_one_give_what_a_whole_run_gives(tmp_path):
    kept = []
    with LLMServer(Author(1)) as server:
        config = config_for("openai", server, samples=4, judges=BOTH)
        for alone in (False, True):
            with Store.open(tmp_path / f"{alone}.duckdb") as store:
                if alone:
                    run_to_end(start_run(store, config), stage=IN_ORDER[0])
                    with pytest.raises(RunError, match="Run the stage"):
                        run_to_end(resume_run(store, get_run(store, "last")), stage="judge_leak")
                    for stage in IN_ORDER[1:]:
                        run_to_end(resume_run(store, get_run(store, "last")), stage=stage)
                else:
                    start(store, config)
                check_judged(store, read_back(store))
                kept.append((read_back(store).records, [row.judgement for row in load_judgements(store)]))
    assert kept[0] == kept[1]


def test_a_run_without_judges_has_no_stage_of_theirs(tmp_path):
    with LLMServer(Author(1)) as server, Store.open(tmp_path / "s.duckdb") as store:
        start(store, config_for("openai", server, samples=2))
        with pytest.raises(RunError, match="judge_leak"):
            run_to_end(resume_run(store, get_run(store, "last")), stage="judge_leak")


@pytest.mark.long
def test_the_page_on_judges_shows_code_that_runs(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[2] / "docs" / "judges.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "outputs").mkdir()
    monkeypatch.chdir(tmp_path)
    with LLMServer(Author(1)) as server, Store.open(tmp_path / "outputs" / "piiloom.duckdb") as store:
        start(store, config_for("openai", server, samples=3, judges=BOTH))
        rows = load_judgements(store)
    exec(snippet, {})  # noqa: S102 - our own page
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"{len(rows)} judgements, {sum(row.judgement.agrees for row in rows)} as planned"
    assert len(shown) == 1 + sum(not row.judgement.agrees for row in rows)


@pytest.mark.long
def test_a_clumsy_judge_is_asked_again_and_costs_no_record_its_place(tmp_path):
    author = Author(2, dict.fromkeys(set(TRICKS["judge_leak"]), 0.05), all_tricks=STAGES)
    with LLMServer(author) as server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for("openai", server, samples=14, judges=BOTH, max_attempts=4))
        kept = read_back(store)
        assert progress.accepted == 14
        check_judged(store, kept)
    for stage in STAGES:
        assert {trick for name, trick in author.done if name == stage} == set(TRICKS[stage])
    codes = {(row.fault or "").partition(":")[0] for row in kept.completions if row.stage in STAGES and row.verdict != "accepted"}
    assert codes >= {"judged_incompletely", "judged_twice", "judged_unknown", "no_reason", "long_reason", "leak_nowhere", "invalid_reply"}


@pytest.mark.long
def test_the_whole_system_prompt_comes_first_and_is_the_same_in_every_call(tmp_path):
    with LLMServer(Author(1)) as server, Store.open(tmp_path / "s.duckdb") as store:
        start(store, config_for("openai", server, samples=6, judges=BOTH))
        bodies = [body for body in server.bodies if body["text"]["format"]["name"] in STAGES]
        assert len(bodies) > 6
        assert len({body["instructions"] for body in bodies}) == 2
        assert len({json.dumps(body["text"], sort_keys=True) for body in bodies}) == 2


def test_the_composer_cannot_judge():
    with pytest.raises(UsageError, match="composer"):
        make_config({"provider": "composer", "judges": ("leak",)})
    with pytest.raises(UsageError, match="judges"):
        make_config({"provider": "openai", "judges": ("taste",)})
