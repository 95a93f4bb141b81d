"""What the page tells from the store: runs, rejects, costs, judges, the release, leakage; and how to make the set again."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.releases.leakage import measure_leakage
from piiloom.corpus.store.call_events import CallEvent, save_call_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import Judgement, save_judgements
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.runs import RejectRow, create_run, save_rejects
from piiloom.evaluation.report.figures import measure
from piiloom.evaluation.report.page import citation, how_to_make_again, limits, page_contents, uses
from piiloom.evaluation.report.page_figures import agreement_table, costs_table, leakage_tables, rejects_table, withheld_table
from piiloom.evaluation.report.sources import (
    Background,
    Corpus,
    ReportSource,
    StatedRelease,
    Wanted,
    corpus_of_file,
    corpus_of_release,
    corpus_of_store,
)
from piiloom.evaluation.report.wording import SelfBleu
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.evaluation.report_records import marked, varied, varied_figures, write_native

AGREEMENT = (2, [("spans", 0.5, 0.25, 0.75, 8)])
WANTED = Wanted(seed=7, agreement=lambda _store, _ids: AGREEMENT)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A store with a run of four records with rejects, a judge and paid calls, another with four, an import, and a release of all."""
    path = tmp_path_factory.mktemp("store") / "some.duckdb"
    records = varied()
    config = {"recipe": "staged", "samples": 4, "base_url": "http://secret.example", "composer": {"personas": True, "value_draws": None}}
    with Store.open(path) as store:
        for name, rows in (("one", records[:4]), ("two", records[4:8])):
            create_run(store, provider="openai", model="m", seed=1, samples=4, config=config, config_digest=name * 4, run_id=name)
            add_records(store, name, list(enumerate(rows)))
        add_records(store, None, [(None, records[8])], status="imported")
        for name in ("one", "two"):
            save_rejects(store, name, [RejectRow(plan_index=n, stage="screen", reason_code="duplicate", attempts=1) for n in (7, 8)])
        entry = {"provider": "openai", "model": "m", "input": 1000, "output": 50, "cost_usd": 0.25, "batch": False}
        event = CallEvent(key="k", kind="reply", stage="post", item_id="0", attempt=1, entry=entry)
        save_call_events(store, "one", [event])
        said = {"kind": "relevance", "value_id": "v", "planned": "high", "provider": "openai", "model": "judge-1"}
        rows = [(0, "r0", Judgement(span_id="s1", score=0.2, verdict="low", agrees=False, reason="It is <b>no</b> matter.", **said))]
        save_judgements(
            store, "one", [*rows, (1, "r1", Judgement(span_id="s1", score=0.9, verdict="high", agrees=True, reason="Yes.", **said))]
        )
        create_release(store, "v1", test_size=2, seed=7)
    return path


def cells(tables: object) -> dict[str, list[tuple[str, ...]]]:
    return {table.title: [tuple(map(str, row)) for row in table.rows] for table in tables}  # type: ignore[attr-defined]


def test_what_the_store_knows_is_told(path):
    corpus = corpus_of_release(path, "v1", wanted=WANTED)
    page = page_contents(corpus, measure(corpus.splits, taxonomy=shipped_taxonomy()))
    made, quality = cells(page["making_tables"]), cells(page["further_tables"])
    assert made["Runs"] == [
        ("one", "m", "staged", "1", "4", "4"),
        ("two", "m", "staged", "1", "4", "4"),
        ("imported", "–", "–", "–", "–", "1"),
    ]
    assert made["Rejected while it was made"] == [("screen", "duplicate", "4")]
    assert made["Cost"] == [("post", "m", "1", "1,000", "50", "0.2500"), ("all", "", "", "", "", "0.2500")]
    assert not page["free"]
    assert quality["Verdicts"] == [("relevance, by a judge", "2", "1 (50.0%)", "1")]
    assert quality["Agreement among annotators"] == [("spans", "0.500", "0.250 to 0.750", "8")]
    shown = {record["id"]: record for family in page["families"] for record in family}
    [judged] = shown["r0"]["labels"][0]["judged"]
    assert judged == {
        "kind": "relevance",
        "verdict": "low",
        "score": "0.20",
        "agrees": False,
        "reason": "It is <b>no</b> matter.",
        "judge": "judge-1",
    }
    assert shown["r0"]["judged"]
    assert not shown["r2"]["judged"]


def test_a_run_or_a_file_has_less_to_tell_and_nothing_is_read_unless_wanted(path, tmp_path):
    corpus = corpus_of_store(path, run="one", wanted=WANTED)
    assert [run.row.id for run in corpus.background.runs] == ["one"]
    assert (corpus.background.release, corpus.background.imported) == (None, 0)
    assert corpus_of_store(path).background == corpus_of_release(path, "v1").background == Background()
    corpus = corpus_of_file(write_native(varied(), tmp_path / "some.jsonl"))
    page = page_contents(corpus, measure(corpus.splits, taxonomy=shipped_taxonomy()))
    assert list(cells(page["making_tables"])) == ["Records by how they were made", "reading"]
    file = tmp_path / "bare.jsonl"
    file.write_text('{"context": "I am Ann.", "question": "Q?", "piis": {"Ann": {"type": "name", "relevance": "1"}}}')
    corpus_without = corpus_of_file(file)
    bare = page_contents(corpus_without, measure(corpus_without.splits, taxonomy=shipped_taxonomy()))
    assert "Language and country of the texts are not stated." in bare["limits"]
    assert "locale" not in {what for _, what, _ in bare["key_figures"]}
    assert page["again"]["commands"] == "piiloom report some.jsonl --seed 7 --out report"


def test_withheld_records_and_missing_extras_are_told():
    release = StatedRelease(name="v", withheld={"too near": 3})
    assert withheld_table(Background(release=release)).rows == (("too near", "3"),)
    assert agreement_table(Background()).rows == rejects_table(Background()).rows == costs_table(Background()).rows == ()
    figures = varied_figures()
    missing = replace(figures, contexts=replace(figures.contexts, self_bleu=SelfBleu(mean=None, install="pip it")))
    installs = page_contents(Corpus(source=ReportSource(file="f"), splits={"all": varied()}), missing)["installs"]
    assert installs == ["self-BLEU was not measured: it needs an extra: pip it"]


def test_what_the_splits_share_is_told_by_kind_and_type():
    records = varied()
    leakage = measure_leakage({"train": records, "test": records[:2]}, taxonomy=shipped_taxonomy()).to_json()
    told = cells(leakage_tables(Background(release=StatedRelease(name="v", leakage=leakage))))
    held = leakage["test"]
    values = f"{held['values']['seen']} of {held['values']['of']} (100.0%)"
    assert held["values"]["of"] > 1
    shared = dict(told["Shared with the other splits"])
    assert (shared["distinct values"], shared["texts of the same words"]) == (values, "2 of 2 (100.0%)")
    assert len(shared) == 9
    assert [name for name, _ in told["… distinct values by type"]] == list(held["by_type"])
    assert leakage_tables(Background()) == leakage_tables(Background(release=StatedRelease(name="v"))) == []


def test_how_to_make_it_again_names_no_host(path):
    corpus = corpus_of_release(path, "v1", wanted=WANTED)
    again = how_to_make_again(corpus, seed=7)
    assert [file["name"] for file in again["files"]] == ["run1.yaml", "run2.yaml"]
    told = yaml.safe_load(again["files"][0]["content"])
    assert told == {"recipe": "staged", "composer": {"personas": True}, "samples": 4, "seed": 1}
    assert again["asks_models"]
    assert again["commands"].splitlines()[2:] == [
        "piiloom import FILE --store again.duckdb",
        "piiloom release --name v1 --version 1.0.0 --test-size 2 --seed 7 --store again.duckdb",
        "piiloom report --release v1 --store again.duckdb --seed 7 --out report",
    ]


def test_a_citation_is_one_entry_whatever_the_title():
    entry = citation("a {b} \\c", "1.0", "ab", None)
    assert entry.startswith("@misc{a-b-c-1-0,\n  title = {a b c},\n  version = {1.0},\n  note = {Made with piiloom ")
    assert entry.count("{") == entry.count("}") == 4


def test_limits_follow_from_the_figures():
    figures = varied_figures()
    said = " ".join([*limits(ReportSource(file="f"), figures, Background()), *uses(figures, Background())])
    assert "No label has been checked by a person" in said
    assert "Every text discloses something" not in said
    assert "texts that disclose nothing (1)" in said
    assert "Fewer than 100 spans: occupation (" in said
    plain = measure({"all": [marked("I am [Ann|name|none].", None, plan=None)]}, taxonomy=shipped_taxonomy())
    said = " ".join([*limits(ReportSource(file="f"), plain, Background(decisions={"validated": 1})), *uses(plain, Background())])
    assert "checked by a person" not in said
    assert "Every text discloses something" in said
    assert "matters for the question" not in said
    assert "does not know whether their people are real" in said


@pytest.mark.long
def test_the_run_files_make_the_same_records(tmp_path, capfd):
    from piiloom.cli.main import run

    store, again = tmp_path / "some.duckdb", tmp_path / "again.duckdb"
    assert run(["generate", "--samples", "8", "--seed", "3", "--locale", "en_GB", "--quiet", "--store", str(store)]) == 0
    corpus = corpus_of_store(store, wanted=WANTED)
    [file] = how_to_make_again(corpus, seed=7)["files"]
    (tmp_path / file["name"]).write_text(file["content"], encoding="utf-8")
    assert run(["generate", "--config", str(tmp_path / file["name"]), "--quiet", "--store", str(again)]) == 0
    assert corpus_of_store(again).splits == corpus.splits
    capfd.readouterr()
