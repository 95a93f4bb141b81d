"""Runs by the recipe ``case``: texts with two questions, labels that have a ledger line and a judge who agrees."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict

import pytest

from piiloom.corpus.store.costs import spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import load_judgements
from piiloom.corpus.store.runs import list_runs
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.errors import UsageError
from piiloom.generation.plan.planning import make_case_item
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import new_or_known_run, start_run
from piiloom.generation.settings.setting_checks import make_config
from piiloom.generation.stages.pipeline import RECIPES, all_item_stages, stage_names
from piiloom.providers.errors import AuthFailed
from piiloom.taxonomy import text_shapes
from piiloom.taxonomy.text_shapes import load_voices
from tests.fakes.llm_server import LLMServer
from tests.fakes.llm_tricks import TRICKS
from tests.generation.case_author import CaseAuthor
from tests.generation.llm_runs import config_for, exported, read_back, resume, set_keys, start
from tests.generation.partition_executors import LocalExecutor, run_by
from tests.longer import case_by_case, mostly_long


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    set_keys(monkeypatch)


def run(path, author, name="openai", **settings):
    with LLMServer(author) as server, Store.open(path) as store:
        progress = start(store, config_for(name, server, recipe="case", **settings))
        return progress, read_back(store), server.requests


PROBE = "none: how the server can be asked for JSON is tried first"


def name_of(body):
    form = body.get("response_format") or body.get("text", {}).get("format") or {}
    return form.get("name") or form.get("json_schema", {}).get("name", PROBE)


def groups_of(records):
    found = defaultdict(list)
    for record in records:
        found[record.contrast_group].append(record)
    return list(found.values())


@pytest.mark.parametrize("name", mostly_long(["openai", "anthropic"], quick={"anthropic"}))
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


@pytest.mark.long
def test_a_share_of_the_texts_is_without_personal_data(tmp_path):
    progress, read, _ = run(tmp_path / "plain.duckdb", CaseAuthor(4), samples=12, no_pii_share=0.5)
    assert progress.accepted == 12
    plain = [group for group in groups_of(read.records) if not group[0].spans]
    assert [len(group) for group in plain] == [2, 2, 2]
    assert all(record.plan.lookalikes == ("order_number",) for group in plain for record in group)
    assert all(len({record.question for record in group}) == 2 for group in plain)


def test_a_text_is_asked_for_once(tmp_path):
    _, kept, _ = run(tmp_path / "s.duckdb", CaseAuthor(3))
    asked = Counter((row.stage, row.item_id.partition("/")[0]) for row in kept.completions)
    posts = {item: number for (stage, item), number in asked.items() if stage == "post"}
    assert set(posts) == {str(index) for index in range(0, 12, 2)}
    assert set(posts.values()) == {1}


@pytest.mark.long
@pytest.mark.parametrize(
    ("policy", "judge", "code"),
    [("relabel", "all", "too_broad"), ("relabel", "none", "nothing_decides"), ("reject", "moves", "contradicted")],
)
def test_a_run_accepts_nothing_that_its_judge_makes_useless(tmp_path, policy, judge, code):
    progress, kept, _ = run(tmp_path / "s.duckdb", CaseAuthor(3, judge=judge), samples=4, on_disagreement=policy, stop_after=6)
    assert (progress.accepted, kept.records) == (0, [])
    assert {(row.stage, row.reason_code) for row in kept.rejects} == {("verdict", code)}


def test_labels_become_the_judge_s(tmp_path):
    progress, kept, _ = run(tmp_path / "s.duckdb", CaseAuthor(3, judge="moves"), samples=4)
    assert progress.accepted == 4
    for record in kept.records:
        high = {span.value_id for span in record.spans if span.relevance == "high"}
        assert len(high) == 1
    with Store.open(tmp_path / "s.duckdb") as store:
        told = [(row.judgement.planned, row.judgement.score) for row in load_judgements(store)]
    assert {planned for planned, score in told if score == 1} == {"low"}
    assert ("high", 0) in told


def test_a_judge_that_takes_it_back_leaves_the_ledger_s_labels(tmp_path):
    progress, kept, _ = run(tmp_path / "s.duckdb", CaseAuthor(3, judge="moves", takes_back=True), samples=4, on_disagreement="reject")
    assert (progress.accepted, kept.rejects) == (4, [])
    with Store.open(tmp_path / "s.duckdb") as store:
        told = [row.judgement for row in load_judgements(store)]
    assert {(one.planned, one.verdict, one.score, one.agrees) for one in told} == {("low", "low", 0, True), ("high", "high", 1, True)}
    assert "It lacks that." in {one.reason for one in told}


def test_texts_without_personal_data_and_identifiers_of_a_text(tmp_path):
    _, kept, _ = run(tmp_path / "s.duckdb", CaseAuthor(3), samples=24, no_pii_share=0.25)
    texts = [group[0] for group in groups_of(kept.records)]
    plain = [record for record in texts if not record.spans]
    assert 0 < len(plain) <= 4
    assert not any(load_voices()[record.plan.register].scenes for record in plain)
    direct = {entry.split("/")[1] for scene in text_shapes._file().identifiers.values() for entry in scene}
    with_direct = {record.plan.register for record in texts if any(span.subtype in direct for span in record.spans)}
    registers = {record.plan.register for record in texts if record.spans}
    assert {name for name in registers if load_voices()[name].scenes} <= with_direct
    assert not any(load_voices()[name].casual for name in with_direct)


def test_casual_voices_have_plain_kinds_only():
    config = make_config({"provider": "openai", "recipe": "case", "registers": ["chat message"]})
    items = [make_case_item(2 * text, ("organization", "health"), ("t", "s"), config=config, digest="d") for text in range(40)]
    wanted = {(value.entity_type, subtype) for item in items for value in item.wanted for subtype in value.subtypes}
    catalogue = {(name, subtype) for name, subtypes in text_shapes._file().catalogue_kinds.items() for subtype in subtypes}
    assert not wanted & catalogue
    assert "code" not in {name for name, _ in wanted}
    assert ("organization", "employer") in wanted


def test_the_composer_is_no_model(tmp_path):
    with pytest.raises(UsageError, match="the composer cannot use the recipe case"):
        make_config({"recipe": "case"})


CLUMSY = {trick: 0.05 for tricks in TRICKS.values() for trick in tricks}


@pytest.mark.long
@pytest.mark.parametrize("how", ["one at a time", "three partitions", "half, then more", "stage by stage"])
def test_the_bytes_are_the_same_however_a_run_is_driven(tmp_path, how):
    with LLMServer(CaseAuthor(3, CLUMSY)) as server:
        config = config_for("openai", server, recipe="case", samples=10)
        with Store.open(tmp_path / "one.duckdb") as store:
            start(store, config)
            expected = exported(store, tmp_path / "one")
        with Store.open(tmp_path / "other.duckdb") as store:
            if how == "one at a time":
                start(store, config.model_copy(update={"concurrency": 1}))
            elif how == "three partitions":
                run_by(LocalExecutor(3), store, config)
            elif how == "half, then more":
                start(store, config.model_copy(update={"samples": 5}))
                resume(store, samples=10)
            else:
                opened = start_run(store, config)
                for name in stage_names("case", ()):
                    run_to_end(opened.reopened(), stage=name)
            assert exported(store, tmp_path / "other") == expected


@pytest.mark.long
def test_partitions_ask_for_a_text_once_too(tmp_path):
    with LLMServer(CaseAuthor(3)) as server, Store.open(tmp_path / "s.duckdb") as store:
        run_by(LocalExecutor(3), store, config_for("openai", server, recipe="case"))
        posts = Counter(row.item_id for row in read_back(store).completions if row.stage == "post" and row.attempt == 0)
        asked = Counter(map(name_of, server.bodies))
    assert set(posts.values()) == {1}
    assert asked["case_post"] == len(posts)


@pytest.mark.long
@pytest.mark.parametrize("together", [2, 3])
def test_items_of_one_text_go_to_one_worker(tmp_path, together):
    with LLMServer(CaseAuthor(3)) as server, Store.open(tmp_path / "s.duckdb") as store:
        executor = LocalExecutor(3)
        run_by(executor, store, config_for("openai", server, recipe="case", samples=12, questions_per_text=together))
    of_text = defaultdict(set)
    for number, indexes in executor.indexes.items():
        for index in indexes:
            of_text[index // together].add(number)
    assert {len(numbers) for numbers in of_text.values()} == {1}
    assert set.union(*of_text.values()) == {0, 1, 2}


def test_a_run_whose_judge_has_its_default_model_is_found_again(tmp_path):
    with LLMServer(CaseAuthor(3)) as server:
        config = config_for("compatible", server, recipe="case", judge_provider="openai", judge_base_url=server.openai_url)
        assert config.judge_model is None
        found = []
        for _ in range(2):
            with new_or_known_run(tmp_path / "s.duckdb", config) as opened:
                found.append((opened.run.id, opened.config.judge_model))
                asyncio.run(opened.provider.aclose())
    assert found[0] == found[1]
    assert found[0][1] is not None


def test_a_judge_of_its_own_is_asked_alone_and_shares_the_budget(tmp_path):
    author = CaseAuthor(3)
    with LLMServer(author) as writer, LLMServer(author) as judge, Store.open(tmp_path / "s.duckdb") as store:
        own = {
            "judge_provider": "compatible",
            "judge_model": "referee",
            "judge_base_url": judge.openai_url,
            "judge_price": "input=5,output=9",
        }
        progress = start(store, config_for("openai", writer, recipe="case", budget_usd=2.0, samples=6, **own))
        assert progress.status == "finished"
        judgements = load_judgements(store)
        completions = read_back(store).completions
    assert {name_of(body) for body in judge.bodies} <= {"judge_relevance", PROBE}
    assert "judge_relevance" not in {name_of(body) for body in writer.bodies}
    assert {(row.judgement.provider, row.judgement.model) for row in judgements} == {("compatible", "referee")}
    judged = [row.cost_usd for row in completions if row.stage == "judge_relevance"]
    assert min(judged) > 0
    assert progress.totals.spent_usd == pytest.approx(sum(row.cost_usd for row in completions))


@pytest.mark.long
def test_a_judge_s_budget_ends_the_run(tmp_path):
    author = CaseAuthor(3)
    with LLMServer(author) as writer, LLMServer(author) as judge, Store.open(tmp_path / "s.duckdb") as store:
        own = {"judge_model": "gpt-5.4-mini", "judge_base_url": judge.openai_url, "judge_price": "input=9000,output=9000"}
        config = config_for("openai", writer, recipe="case", budget_usd=40.0, **own)
        with pytest.raises(BudgetReached):
            start(store, config)
        spent = spending(store, read_back(store).run.id)
        assert spent.cost_usd + spent.charged_usd <= 40.0
    assert "judge_relevance" not in {name_of(body) for body in judge.bodies}


@case_by_case(
    ("settings", "said"),
    [
        ({"judge_model": "m", "recipe": "staged"}, "this run has no judge"),
        ({"judge_provider": "composer", "recipe": "case"}, "cannot judge"),
        ({"judge_base_url": "http://localhost:1/v1", "recipe": "case"}, "no separate judge"),
        ({"judge_provider": "anthropic", "recipe": "case", "batch": True}, "one provider"),
        ({"sampling": {"situation": {"temperature": 1.0}}, "recipe": "case"}, "no model at the stage situation"),
        ({"sampling": {"sheet": {"temperature": 1.0}}, "recipe": "staged"}, "no model at the stage sheet"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings, said):
    with pytest.raises(UsageError, match=said):
        make_config({"provider": "openai", **settings})


def test_a_judge_without_a_key_is_told_before_anything_is_kept(tmp_path, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with Store.open(tmp_path / "s.duckdb") as store:
        with pytest.raises(AuthFailed):
            start_run(store, make_config({"provider": "openai", "recipe": "case", "judge_provider": "anthropic"}))
        assert list_runs(store) == []


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_list_of_all_stages_has_those_of_each_recipe_in_its_order(recipe):
    everything = all_item_stages()
    places = [everything.index(stage) for stage in RECIPES[recipe]]
    assert places == sorted(places)
