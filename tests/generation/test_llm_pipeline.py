"""The whole pipeline through the real SDKs against a loopback server, with a model that does as it is told."""

from __future__ import annotations

import json
import shutil
from collections import Counter

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.errors import RunError
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import resume_run, resumed_config, start_run
from piiloom.generation.running.tracing import report_stages
from piiloom.generation.settings.digests import sendable_templates
from piiloom.generation.stages.pipeline import stage_names
from piiloom.taxonomy.bank_checks import CUE_LEVELS
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.fakes.llm_tricks import TRICKS
from tests.generation.llm_runs import MODELS, check_exact, config_for, exported, read_back, resume, set_keys, start
from tests.longer import mostly_long

STAGE_NAMES = stage_names("staged", ())

CLUMSY = {trick: 0.02 for tricks in TRICKS.values() for trick in tricks}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    set_keys(monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "samples"), mostly_long([("openai", 30), ("anthropic", 30), ("compatible", 16)], quick={("compatible", 16)})
)
def test_every_sample_becomes_an_exact_record(name, samples, tmp_path):
    with LLMServer(Author()) as server, Store.open(tmp_path / "s.duckdb") as store:
        opened = start_run(store, config_for(name, server, samples=samples))
        config = opened.config
        progress = run_to_end(opened)
        kept = read_back(store)
        rows = [json.loads(line) for data in exported(store, tmp_path / "out").values() for line in data.splitlines()]

    assert (progress.status, progress.accepted, progress.rejected) == ("finished", samples, 0)
    assert kept.indexes == list(range(samples))
    assert kept.rejects == []
    check_exact(kept.records)
    assert len(rows) == samples
    assert all(row["context"][span["start"] : span["end"]] == span["text"] for row in rows for span in row["spans"])
    assert {tuple(row["meta"]["pair"]) for row in rows} == set(config.chosen_pairs())
    for record in kept.records:
        made = record.provenance
        assert made is not None
        assert (made.provider, made.model, made.seed) == (name, MODELS[name], config.seed)
        assert {template.partition(".")[0] for template, _ in made.templates} == {
            template.id.partition(".")[0] for template in sendable_templates(config)
        }
        assert all(len(sha256) == 64 for _, sha256 in made.templates)

    assert server.outcomes == {"ok": server.requests}
    assert len(kept.completions) == server.requests == progress.totals.answered
    assert {row.verdict for row in kept.completions} == {"accepted"}
    assert {(row.provider, row.model, row.endpoint) for row in kept.completions} == {(name, MODELS[name], opened.provider.endpoint)}
    assert Counter(row.stage for row in kept.completions)["question"] == 3 * samples
    assert progress.totals.input_tokens == sum(row.input_tokens for row in kept.completions) > 0
    assert progress.totals.output_tokens == sum(row.output_tokens for row in kept.completions) > 0
    if name == "compatible":  # nobody knows what such a model costs
        assert progress.totals.unpriced == server.requests
        assert {row.cost_usd for row in kept.completions} == {None}
    else:
        assert progress.totals.unpriced == 0
        assert progress.totals.cost_usd == pytest.approx(sum(row.cost_usd or 0 for row in kept.completions))
        assert all(row.cost_usd for row in kept.completions)


@pytest.mark.long
def test_every_kind_of_text_is_written(tmp_path):
    """Texts with none to four values that matter, on behalf of somebody, at every cue level, with up to eight other values."""
    registers = ("second-hand", "forum post", "chat message")
    with LLMServer(Author(4)) as server, Store.open(tmp_path / "s.duckdb") as store:
        config = config_for("compatible", server, samples=60, seed=3, max_low=8, registers=registers, concurrency=16)
        progress = start(store, config)
        records = read_back(store).records
    assert (progress.status, progress.rejected) == ("finished", 0)
    check_exact(records)
    numbers = Counter(len({span.value_id for span in record.spans if span.relevance == "high"}) for record in records)
    assert set(numbers) == {0, 1, 2, 3, 4}
    assert {record.plan.cue_level for record in records} == set(CUE_LEVELS)
    for record in records:
        subtypes = [span.subtype for span in record.spans]
        assert subtypes.count("asked_for") == (record.plan.register == "second-hand" and bool(subtypes))
        assert "asked_for" not in subtypes[1:]
    assert any("asked_for" in {span.subtype for span in record.spans} for record in records)


@pytest.mark.long
def test_a_server_without_schemas_is_served_too(tmp_path):
    with LLMServer(Author(), chat_formats=frozenset()) as server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for("compatible", server, samples=6))
        kept = read_back(store)
    assert progress.accepted == 6
    check_exact(kept.records)
    assert server.outcomes["ok"] == len(kept.completions)


@pytest.mark.long
def test_concurrency_changes_no_byte(tmp_path):
    found = []
    with LLMServer(Author(2, {**CLUMSY, "situation/dropped": 0.6})) as server:
        for concurrency in (1, 16):
            with Store.open(tmp_path / f"{concurrency}.duckdb") as store:
                progress = start(store, config_for("compatible", server, samples=8, concurrency=concurrency))
                rejects = [(row.plan_index, row.stage, row.reason_code, row.attempts) for row in read_back(store).rejects]
                found.append((exported(store, tmp_path / str(concurrency)), rejects, progress.reasons))
        with Store.open(tmp_path / "other.duckdb") as store:
            start(store, config_for("compatible", server, samples=2, seed=8))
            other = exported(store, tmp_path / "other")
    assert found[0] == found[1]
    assert found[0][1], "the author has to misbehave enough for some rejects"
    assert other != found[0][0]


@pytest.mark.long
def test_values_from_the_model(tmp_path):
    with LLMServer(Author()) as server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for("openai", server, samples=12, values="llm"))
        kept = read_back(store)
    asked = [json.loads(row.reply or "")["value"] for row in kept.completions if row.stage == "values" and row.verdict == "accepted"]
    assert progress.accepted == 12
    check_exact(kept.records)
    surfaces = {span.text_in(record.context) for record in kept.records for span in record.spans}
    assert surfaces <= {" ".join(value.split()) for value in asked}
    assert {"values"} == {row.stage for row in kept.completions if row.template in ("pii_value.v1", "value_in_text.v1")}
    assert {"value_in_text.v1"} < {row.template for row in kept.completions}


@pytest.mark.long
def test_stages_one_by_one_equal_generate(tmp_path):
    """Also: when only the gates are left, going on asks nothing and gives the same."""
    path, copy = tmp_path / "steps.duckdb", tmp_path / "copy.duckdb"
    with LLMServer(Author(2, CLUMSY)) as server:
        config = config_for("compatible", server, samples=5)
        with Store.open(tmp_path / "whole.duckdb") as store:
            start(store, config)
            whole = exported(store, tmp_path / "whole")
        with Store.open(path) as store:
            run_to_end(start_run(store, config), stage=STAGE_NAMES[0])
        for stage in STAGE_NAMES[1:-1]:
            with Store.open(path) as store:  # each time as from a process of its own
                run_to_end(resume_run(store, get_run(store, "last")), stage=stage)
        asked = server.requests
        shutil.copy(path, copy)
        for left, stage in ((path, STAGE_NAMES[-1]), (copy, None)):
            with Store.open(left) as store:
                progress = run_to_end(resume_run(store, get_run(store, "last")), stage=stage)
                assert (progress.status, progress.totals.answered_now, progress.totals.replayed) == ("finished", 0, 0)
                assert get_run(store, "last").status == "finished"
                assert exported(store, tmp_path / left.stem) == whole
                lines = {line.stage: line for line in report_stages(store, get_run(store, "last"))}
                assert lines["screen"].done == 5
                assert lines["values"].done >= lines["situation"].done >= lines["spans"].done >= 5
        assert server.requests == asked


def test_a_stage_that_lacks_what_comes_before_it_says_so(tmp_path):
    with LLMServer(Author()) as server, Store.open(tmp_path / "s.duckdb") as store:
        run_to_end(start_run(store, config_for("compatible", server, samples=1, pairs="all")), stage="topics")
        opened = resume_run(store, get_run(store, "last"), samples=9)  # touches pairs that nobody has asked about
        for stage, missing in (("subtopics", "topics"), ("values", "topics")):
            with pytest.raises(RunError, match=f"{missing} are missing"):
                run_to_end(opened.reopened(), stage=stage)
        assert get_run(store, opened.run.id).status == "interrupted"


@pytest.mark.long
def test_more_samples_later_keep_the_earlier_ones(tmp_path):
    with LLMServer(Author()) as server:
        with Store.open(tmp_path / "more.duckdb") as store:
            config = config_for("compatible", server, samples=3)
            start(store, config)
            first = read_back(store).records
            assert resumed_config(store, get_run(store, "last"), samples=10).samples == 10
            progress = resume(store, samples=10)
            records = read_back(store).records
        with Store.open(tmp_path / "once.duckdb") as store:
            start(store, config_for("compatible", server, samples=10))
            assert read_back(store).records == records
    assert progress.accepted == 10
    assert records[:3] == first
