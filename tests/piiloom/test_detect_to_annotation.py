"""``piiloom detect --to annotation``: what it reads, what it stores, and what is kept if somebody has the store."""

from __future__ import annotations

import json

import pytest

from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.worklist import detection_runs, pool
from piiloom.annotation_app.worklist.assigning import SettingsStore
from piiloom.annotation_app.worklist.pool import Pool
from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.annotation_events import read_events
from piiloom.corpus.store.annotation_items import load_items
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import suggestion_runs, suggestions_for
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.records import add_records
from piiloom.detection.detector import Findings
from piiloom.detection.registry import PatternDetector
from piiloom.foundation.errors import StoreLocked
from tests.detection.answering_model import Model
from tests.detection.own_entities import only_own, own, text_of
from tests.fakes.llm_server import LLMServer
from tests.providers.provider_calls import MODELS

__all__ = ["only_own", "own"]
pytestmark = pytest.mark.usefixtures("only_own")


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "screening_doubts", lambda *_: ())  # the gates need the entities that ship
    path = tmp_path / "work.duckdb"
    with Store.open(path) as store:
        spans = (Span(id="s", start=0, end=4, entity_type="name"),)
        add_records(store, None, [(None, Record(id=f"r{n}", context=text_of(n), spans=spans)) for n in range(4)], status="imported")
        shared = SharedStore(store)
        log = EventLog(shared)
        settings = SettingsStore(shared, log)
        Pool(shared, log, settings).add("boss", record_ids=["r0", "r1", "r2"])
        settings.change("boss", "by_uncertainty", value=True)
    return path


@pytest.fixture
def suggest(cli, workspace, own):
    def act(*words, code=0):
        outcome = cli("detect", "--store", workspace, "--to", "annotation", "--types", own, *words)
        assert outcome.code == code, outcome.err
        return outcome

    return act


def shown(path, record_id="r0"):
    with Store.open(path, create=False) as store:
        found = suggestions_for(store, [record_id]).get(record_id, [])
    return [(one.entity_type, one.subtype, one.score, one.detector) for one in found]


def test_the_records_that_wait_get_suggestions(suggest, workspace):
    told = json.loads(suggest("--json").out)
    assert (told["records"], told["added"], told["detector"], told["detection"]["spans"]) == (3, 6, "patterns", 6)
    assert [(kind, subtype) for kind, subtype, _, _ in shown(workspace)] == [("code", "test_member"), ("name", "test_nick")]
    again = suggest()
    assert "0 new suggestions by patterns for 3 records; 6 were there before, 0 are withdrawn" in again.out
    assert {path.name for path in workspace.parent.iterdir()} == {"work.duckdb"}
    with Store.open(workspace, create=False) as store:
        assert {event.actor for event in read_events(store, kinds=["suggested", "prioritised"])} == {"piiloom detect"}
        assert all(item.priority > 0 for item in load_items(store))
        assert len(suggestion_runs(store)) == 2


def test_the_detector_is_not_told_what_is_labelled(suggest, workspace, monkeypatch):
    rows = []
    monkeypatch.setattr(detection_runs, "write_rows", lambda found, _: rows.extend(found))
    suggest(code=1)  # there is nothing to read then
    assert {tuple(row) for row in rows} == {("id", "locale", "context", "question")}


def test_one_record_and_another_place_for_the_rows(suggest, workspace, tmp_path):
    out = tmp_path / "kept.jsonl"
    assert "for 1 record;" in suggest("--record", "r1", "--out", out).out
    assert (shown(workspace), len(shown(workspace, "r1"))) == ([], 2)
    assert json.loads(out.read_text(encoding="utf-8"))["id"] == "r1"
    assert "for 1 record;" in suggest("--record", "r3").out  # not on the work list yet
    assert shown(workspace, "r3") == []


def test_what_an_earlier_command_set_aside_is_no_obstacle(suggest, workspace):
    folder = workspace.with_name("work.duckdb.detecting")
    folder.mkdir()
    for name in ("patterns.set-aside.jsonl", "patterns.detect-rejects.jsonl"):
        (folder / name).write_text("{}\n")
    assert "6 new suggestions" in suggest().out
    assert not folder.exists()


def test_a_document_that_cannot_be_detected_keeps_its_earlier_suggestions(suggest, workspace, monkeypatch):
    suggest()

    def examine(self, text, locale, question=None):
        return Findings(spans=(), failed="it was refused" if " 0:" in text else None)

    monkeypatch.setattr(PatternDetector, "examine", examine, raising=False)
    assert "0 new suggestions by patterns for 2 records; 0 were there before, 4 are withdrawn" in suggest().out
    assert (len(shown(workspace)), shown(workspace, "r1")) == (2, [])
    monkeypatch.setattr(PatternDetector, "examine", lambda *_: Findings(spans=(), failed="it was refused"), raising=False)
    assert "no record could be detected" in suggest(code=1).err
    reason = workspace.with_name("work.duckdb.detecting") / "patterns.detect-rejects.jsonl"
    assert "it was refused" in reason.read_text(encoding="utf-8")


def test_what_is_found_is_kept_while_somebody_has_the_store(suggest, workspace, monkeypatch):
    opened = Store.open

    def locked(path, **settings):
        raise StoreLocked("process 7 (piiloom annotate) holds the store", where=str(path))

    monkeypatch.setattr(detection_runs.Store, "open", locked)
    told = suggest(code=1)
    assert "process 7 (piiloom annotate) holds the store" in told.err
    kept = workspace.with_name("work.duckdb.detecting") / "patterns.jsonl"
    assert f"What was found is in {kept}: upload it in the app (Admin, Suggestions)" in " ".join(told.err.split())
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 3
    monkeypatch.setattr(detection_runs.Store, "open", opened)
    assert "6 new suggestions by patterns for 3 records" in suggest("--resume").out
    assert not kept.parent.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--record", "r9"), "there is no such record"),
        (("--release", "v9"), "v9"),
        (("--release", "v1", "--record", "r1"), "--release and --record both say what to look through"),
        (("--mask", "type"), "it says nothing with --to annotation"),
        (("--out", "folder"), "suggestions are native rows"),
        (("other.duckdb",), "INPUT and --store are two stores"),
    ],
)
def test_what_makes_no_sense_is_refused(suggest, workspace, words, said):
    code = 1 if words == ("--release", "v9") else 2
    assert said in " ".join(suggest(*words, code=code).err.split())
    assert shown(workspace) == []


def test_a_store_where_nobody_waits(cli, tmp_path, own):
    path = tmp_path / "empty.duckdb"
    Store.open(path).close()
    outcome = cli("detect", "--store", path, "--to", "annotation", "--types", own)
    assert (outcome.code, "no record waits for annotation" in outcome.err) == (2, True)
    assert {one.name for one in tmp_path.iterdir()} == {"empty.duckdb"}


def test_before_there_is_a_work_list_all_records_are_looked_through(suggest, workspace):
    with Store.open(workspace, create=False) as store:
        store.change("DELETE FROM annotation_items")
    assert "for 4 records;" in suggest().out


def test_files_need_an_input_and_an_output(cli, tmp_path):
    assert "no INPUT is named" in cli("detect").err
    assert "nothing says where to write" in cli("detect", tmp_path).err
    assert "'paper' is not one of" in cli("detect", tmp_path, "--to", "paper").err
    assert "says nothing without --to annotation" in cli("detect", tmp_path, "--record", "r").err


@pytest.mark.long
def test_a_model_is_asked_and_its_replies_are_in_the_same_store(suggest, workspace, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")
    with LLMServer(Model({"Żółw": "test_animal"}, None)) as server:
        asked = ("--detector", "hybrid", "--provider", "openai", "--model", MODELS["openai"], "--base-url", server.openai_url)
        first = json.loads(suggest(*asked, "--yes", "--unpriced", "--json").out)
        count = server.requests
        again = json.loads(suggest(*asked, "--yes", "--unpriced", "--json").out)
        assert server.requests == count > 0
    assert (first["added"], first["model"]) == (9, MODELS["openai"])
    assert (again["added"], again["known"]) == (0, 9)
    with Store.open(workspace, create=False) as store:
        found = suggestions_for(store, ["r0"])["r0"]
    assert {(one.subtype, one.detector, one.found_by) for one in found} >= {("test_animal", "hybrid", "model")}
