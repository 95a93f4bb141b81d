"""The pool: what gets in, what is known of it, and in which order it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from worklist_stories import WorkProject, composed

from piiloom.annotation_app.worklist.assigning import ProjectSettings
from piiloom.annotation_app.worklist.pool import Signals, explained, scored, screening_doubts
from piiloom.corpus.importing import import_file
from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.annotation_items import base_records, find_item, item_facts, load_items, pair_of, set_status, wanted_counts
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.judgements import Judgement, save_judgements
from piiloom.corpus.store.records import add_records
from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.shared_files import of_whole, shared

SAMPLE = shared("data/capid/raw_pipeline_sample.jsonl")
AGAINST = Judgement(
    kind="relevance",
    value_id="v1",
    span_id="s1",
    planned="high",
    score=0.1,
    verdict="low",
    agrees=False,
    reason="no",
    provider="p",
    model="m",
)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open(MEMORY) as opened:
        yield opened


def test_facts_are_what_lists_filter_by(store: Store) -> None:
    project = WorkProject(store, [composed(1)])
    item = load_items(store)[0]
    assert item.facts == {
        "pair": "age+belief",
        "types": ["health", "location", "occupation"],
        "locale": "en_US",
        "model": "none",
        "provider": "composer",
        "stage": "screen",
        "words": 15,
        "spans": 3,
    }
    assert (item.role, item.status, item.wanted) == ("work", "generated", 1)
    project.assert_replay_equals_tables()


def test_the_newest_revision_is_pooled_once_and_stays_the_base(store: Store) -> None:
    old = composed(1)
    project = WorkProject(store, [old, replace(old, revision=1, question="And now?")])
    assert project.base(old.id).question == "And now?"
    add_records(store, None, [(None, replace(old, revision=2, question="Later?"))], status="imported")
    report = project.pool.add("boss", record_ids=[old.id, "gone"])
    assert (report.added, report.known, report.missing) == (0, 1, ("gone",))
    assert project.base(old.id).question == "And now?"


def test_runs_imports_and_ids_are_different_selections(store: Store) -> None:
    project = WorkProject(store, [composed(n) for n in range(4)], pooled=False)
    add_records(store, "run-1", [(n, composed(100 + n)) for n in range(3)])
    assert project.pool.add("boss", run_id="run-1").added == 3
    assert project.pool.add("boss", record_ids=[composed(0).id, composed(1).id], wanted=3).added == 2
    report = project.pool.add("boss", imported=True)
    assert (report.added, report.known) == (2, 2)
    assert [item.wanted for item in load_items(store)].count(3) == 2
    with pytest.raises(UsageError, match="nothing is named"):
        project.pool.add("boss")
    with pytest.raises(UsageError, match="people per record"):
        project.pool.add("boss", imported=True, wanted=0)
    assert project.pool.want("boss", 2) == 7
    assert {item.wanted for item in load_items(store)} == {2}
    project.assert_replay_equals_tables()


def test_people_per_record_change_for_what_is_unfinished_of_a_source(store: Store) -> None:
    project = WorkProject(store, [composed(n) for n in range(3)])
    add_records(store, "run-1", [(n, composed(100 + n)) for n in range(2)])
    project.pool.add("boss", run_id="run-1")
    again = project.pool.add("boss", imported=True, wanted=3)
    assert (again.added, again.known, again.otherwise) == (0, 3, 3)
    assert wanted_counts(store) == {1: 5}
    assert project.pool.want("boss", 3, imported=True) == 3
    assert project.pool.want("boss", 2, run_id="run-1") == 2
    assert wanted_counts(store) == {2: 2, 3: 3}
    set_status(store, [composed(0).id], "validated", "2026-11-02T10:00:00.000+00:00")
    assert project.pool.add("boss", imported=True, wanted=1).otherwise == 2
    assert project.pool.want("boss", 1) == 4
    assert wanted_counts(store) == {1: 4}
    with pytest.raises(UsageError, match="people per record"):
        project.pool.want("boss", 51)


def test_judged_doubtful_and_rare_records_come_first(store: Store) -> None:
    doubtful = composed(2, question="Can I still work with asthma?")
    project = WorkProject(store, [composed(0), doubtful, *(composed(3 * n) for n in range(1, 9)), composed(4)], pooled=False)
    save_judgements(store, "run", [(0, composed(6).id, AGAINST), (1, composed(6).id, replace(AGAINST, value_id="v2"))])
    project.settings.change("boss", "priority_weights", {"random": 0.0})
    project.pool.add("boss", imported=True)
    order = sorted(load_items(store), key=lambda item: -item.priority)
    assert [item.record_id for item in order[:3]] == [composed(6).id, doubtful.id, composed(4).id]
    assert order[0].reasons == ("judges:2",)
    assert order[1].reasons == ("question.value",)
    assert order[2].reasons == ("pair.rare",)
    assert project.next("ann") == composed(6).id
    assert project.pool.prioritise("boss") == 0
    project.settings.change("boss", "priority_weights", {"judges": 0.0, "random": 0.0})
    assert project.pool.prioritise("boss") == 1
    project.assert_replay_equals_tables()


def test_the_score_is_the_documented_sum() -> None:
    signals = Signals(record_id="r", pair="a+b", disagreements=2, doubts=("unlisted.email", "question.value"))
    settings = ProjectSettings(priority_weights={"judges": 1.0, "screening": 10.0, "rare": 100.0, "random": 0.0})
    assert scored(signals, {"a+b": 1, "c+d": 4}, settings) == (
        0.75 + 7.5 + 75,
        ("judges:2", "unlisted.email", "question.value", "pair.rare"),
    )
    assert scored(replace(signals, pair=None), {}, settings)[0] == 8.25
    drawn = ProjectSettings(priority_weights={"judges": 0, "screening": 0, "rare": 0, "random": 1})
    first = scored(signals, {}, drawn)[0]
    assert 0 <= first < 1
    assert scored(signals, {}, drawn)[0] == first
    assert scored(signals, {}, replace(drawn, seed=1))[0] != first


def test_every_reason_has_words() -> None:
    reasons = ["judges:1", "judges:3", "pair.rare", "unlisted.card", "question.type_word"]
    words = [explained(reason) for reason in reasons]
    assert all(word and word not in reasons for word in words)


def test_a_record_without_plan_or_spans_is_no_obstacle() -> None:
    bare = Record(id="r", context="No more than this.", question="What now?")
    assert pair_of(bare) is None
    assert screening_doubts(bare, taxonomy=shipped_taxonomy()) == ()
    assert screening_doubts(replace(bare, question=None), taxonomy=shipped_taxonomy()) == ("question.missing",)
    spans = (Span(id="a", start=0, end=2, entity_type="age", relevance="high"), Span(id="b", start=3, end=7, entity_type="age"))
    assert pair_of(replace(bare, spans=spans)) is None
    assert item_facts(bare)["types"] == []


def test_raw_records_can_be_pooled_ordered_and_given_out(store: Store, tmp_path: Path) -> None:
    import_file(store, SAMPLE, "capid", rejects_path=tmp_path / "rejects.jsonl")
    project = WorkProject(store, pooled=False)
    report = project.pool.add("boss", imported=True)
    items = load_items(store)
    assert report.added == len(items) > of_whole(250, 5)
    assert sum(bool(item.reasons) for item in items) > of_whole(20, 0)
    first = project.next("ann")
    assert find_item(store, str(first)) == max(items, key=lambda item: item.priority)
    assert len(base_records(store, [item.record_id for item in items])) == len(items)
    project.assert_replay_equals_tables()
