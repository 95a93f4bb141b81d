"""The tables of the work list: written, read back, and read by the thousand; values are never SQL."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import AnnotationDocument, save_documents
from piiloom.corpus.store.annotation_items import (
    AnnotationItem,
    ListFilter,
    add_items,
    base_records,
    disagreement_counts,
    filter_choices,
    find_item,
    item_pair_counts,
    list_items,
    load_items,
    newest_records,
    pooled_ids,
    set_priorities,
    set_status,
    set_wanted,
    shown_status_counts,
)
from piiloom.corpus.store.annotation_project import (
    ControlRow,
    Guideline,
    GuidelineQuestion,
    RecordAssignment,
    add_controls,
    add_guideline,
    add_question,
    assigned_loads,
    best_control,
    best_offer,
    control_orders,
    ever_had,
    find_control,
    held_open,
    known_record_ids,
    load_assignments,
    load_controls,
    load_guidelines,
    load_questions,
    newest_version,
    put_assignments,
    put_setting,
    read_settings,
    set_answer,
    standing,
)
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from piiloom.foundation.errors import DataError

MakeRecord = Callable[..., Record]
NOW, LATER = "2026-11-02T09:00:00.000+00:00", "2026-11-02T10:00:00.000+00:00"


def pooled(store: Store, record: Record, **changes: object) -> AnnotationItem:
    """*record* stored and in the list."""
    add_records(store, None, [(None, record)])
    order = store.rows("SELECT max(record_order) FROM records WHERE id = ?", [record.id])[0][0]
    item = AnnotationItem(
        record_id=record.id, record_order=order, changed_at=NOW, facts={"pair": "age+health", "types": ["age"], "words": 7}
    )
    add_items(store, [replace(item, **changes)])  # type: ignore[arg-type]
    return find_item(store, record.id) or item


def document(record_id: str, annotator: str, verdict: str = "accepted") -> AnnotationDocument:
    return AnnotationDocument(
        record_id=record_id, annotator=annotator, version=1, verdict=verdict, flagged=False, guideline=1, changed_at=NOW, event=1, state={}
    )


def test_items_come_back_as_they_were_and_change_field_by_field(store: Store, make_record: MakeRecord) -> None:
    odd = {"pair": None, "types": ["sexual orientation"], "locale": "'; DROP TABLE records", "words": 3}
    first = pooled(store, make_record(1), reasons=("judges:2", "it's"), facts=odd, priority=0.1 + 0.2, wanted=2)
    second = pooled(store, make_record(2), role="practice")
    assert load_items(store) == [first, second]
    assert (first.facts, first.reasons, first.priority) == (odd, ("judges:2", "it's"), 0.1 + 0.2)
    assert load_items(store, roles=["practice"]) == load_items(store, [second.record_id]) == [second]
    assert pooled_ids(store, [first.record_id, "other"]) == {first.record_id}
    assert find_item(store, "other") is None
    set_status(store, [first.record_id], "agreed", LATER)
    set_wanted(store, [first.record_id], 5, LATER)
    set_priorities(store, [(first.record_id, 7.5, ("x",)), ("other", 1.0, ())], LATER)
    expected = replace(first, status="agreed", wanted=5, priority=7.5, reasons=("x",), changed_at=LATER)
    assert load_items(store) == [expected, second]
    assert item_pair_counts(store) == {}
    assert disagreement_counts(store) == {}


def test_the_newest_revision_is_found_and_the_base_stays(store: Store, make_record: MakeRecord) -> None:
    item = pooled(store, make_record(1))
    newer = make_record(1, revision=1, question="Newer?")
    add_records(store, None, [(None, newer)], status="validated")
    add_records(store, "run", [(4, make_record(4))])
    add_records(store, None, [(None, make_record(5))], status="imported")
    add_records(store, None, [(None, make_record(6))], status="control")
    assert [record for _, record in newest_records(store, record_ids=[item.record_id])] == [newer]
    assert [record.id for _, record in newest_records(store, run_id="run")] == [make_record(4).id]
    assert [record.id for _, record in newest_records(store, imported=True)] == [make_record(5).id]
    assert make_record(6).id not in {record.id for _, record in newest_records(store)}
    assert base_records(store, [item.record_id, "other"]) == {item.record_id: make_record(1)}


def test_an_assignment_is_replaced_and_the_last_of_several_counts(store: Store) -> None:
    one = RecordAssignment(record_id="r", annotator="ann", state="leased", leased_until=LATER, changed_at=NOW)
    two = replace(one, state="skipped", leased_until=None, changed_at=LATER)
    other = replace(one, annotator="o'ben")
    put_assignments(store, [])
    put_assignments(store, [one, other])
    put_assignments(store, [one, two])
    assert load_assignments(store) == [two, other]
    assert load_assignments(store, annotator="o'ben", record_id="r") == [other]
    assert ever_had(store, "ann") == 1


def test_offers_follow_leases_assignments_and_what_is_finished(store: Store, make_record: MakeRecord) -> None:
    low, high, mine = (pooled(store, make_record(n), priority=p) for n, p in ((1, 1.0), (2, 2.0), (3, 0.0)))
    assert best_offer(store, "ann", NOW) == (high.record_id, "new", None)
    assert best_offer(store, "ann", NOW, [high.record_id]) == (low.record_id, "new", None)
    put_assignments(store, [RecordAssignment(record_id=mine.record_id, annotator="ann", state="assigned")])
    assert best_offer(store, "ann", NOW) == (mine.record_id, "assigned", None)
    assert assigned_loads(store) == {"ann": 1}
    put_assignments(store, [RecordAssignment(record_id=low.record_id, annotator="ann", state="leased", leased_until=LATER, changed_at=NOW)])
    assert best_offer(store, "ann", NOW) == (low.record_id, "resumed", LATER)
    assert held_open(store, "ann", NOW) == (1, low.record_id)
    assert held_open(store, "ann", LATER) == (0, None)
    assert best_offer(store, "ben", NOW) == (high.record_id, "new", None)
    save_documents(store, [document(high.record_id, "ben"), document(low.record_id, "ann"), document(mine.record_id, "ann")])
    assert best_offer(store, "ann", NOW) is None
    assert best_offer(store, "ben", LATER) is None
    assert assigned_loads(store) == {}
    found = standing(store, "ann", low.record_id, NOW)
    assert found is not None
    assert (found.finished, found.others, found.wanted, found.stored) == (True, 0, 1, True)
    assert standing(store, "ann", "other", NOW) is None


def test_controls_are_kept_with_their_answers(store: Store, make_record: MakeRecord) -> None:
    row = ControlRow(record_id="c1", kind="type", source_id="r1", entry={"span": "s1", "reference": {"context": "é👩‍🚀"}})
    gold = ControlRow(record_id="c0", kind="gold", source_id="r1", entry={})
    add_controls(store, [row, gold])
    assert load_controls(store) == [gold, row]
    assert load_controls(store, ["type"]) == [row]
    assert find_control(store, "c1") == row
    assert find_control(store, "r1") is None
    add_records(store, None, [(None, make_record(1, id="c1"))], status="control")
    assert known_record_ids(store, ["c1", "c0"]) == {"c1"}
    assert list(control_orders(store, ["c1", "c0"])) == ["c1"]
    item = AnnotationItem(record_id="c1", record_order=control_orders(store, ["c1"])["c1"], role="control")
    add_items(store, [item])
    assert best_offer(store, "ann", NOW) is None
    assert best_control(store, "ann") == "c1"
    assert best_control(store, "ann", ["c1"]) is None
    put_assignments(store, [RecordAssignment(record_id="r1", annotator="ben", state="released")])
    assert best_control(store, "ben") is None


def test_settings_guidelines_and_questions(store: Store) -> None:
    put_setting(store, "weights", {"b": 1, "a": 0.5})
    put_setting(store, "overlap", 2)
    put_setting(store, "overlap", 3)
    assert read_settings(store) == {"overlap": 3, "weights": {"a": 0.5, "b": 1}}
    assert newest_version(store) is None
    rows = [Guideline(version=n, markdown=f"# {n}\r\n👩‍🚀", made_by="boss", made_at=NOW) for n in (1, 2)]
    for row in rows:
        add_guideline(store, row)
    assert (load_guidelines(store), newest_version(store)) == (rows, 2)
    asked = GuidelineQuestion(question=7, record_id="r", asked_by="ann", asked_at=NOW, text="Why?")
    add_question(store, asked)
    assert load_questions(store) == load_questions(store, record_id="r") == [asked]
    set_answer(store, 7, "So.", "boss", LATER)
    assert load_questions(store, number=7) == [replace(asked, answer="So.", answered_by="boss", answered_at=LATER)]
    assert load_questions(store, number=8) == []


def test_text_that_utf8_cannot_hold_is_refused(store: Store) -> None:
    with pytest.raises(DataError):
        add_guideline(store, Guideline(version=1, markdown="half \ud83d", made_by="boss", made_at=NOW))


@pytest.mark.long
def test_a_list_of_ten_thousand_takes_no_more_than_reading_all_texts_a_few_times(tmp_path: Path, make_record: MakeRecord) -> None:
    filler = "the mill by the river turned slowly while people spoke of rent and weather " * 12
    records = [make_record(n, context=f"As a baker with asthma, I wrote note {n}. {filler}") for n in range(10_000)]
    with Store.open(tmp_path / "big.duckdb") as big:
        add_records(big, None, [(None, record) for record in records], status="imported")
        orders = [order for (order,) in big.rows("SELECT record_order FROM records ORDER BY record_order")]
        facts = [{"pair": ("age+health", "age+belief")[n % 2], "types": ["age"], "locale": "en_US", "words": n} for n in range(10_000)]
        add_items(
            big,
            [
                AnnotationItem(record_id=r.id, record_order=o, priority=o % 97, facts=f)
                for r, o, f in zip(records, orders, facts, strict=True)
            ],
        )
        big.append(
            "annotation_assignments",
            ("record_id", "annotator", "state", "leased_until", "changed_at"),
            [(r.id, f"p{n % 5}", "leased", LATER, NOW) for n, r in enumerate(records[:5000])],
        )
        save_documents(big, [document(r.id, f"p{n % 5}", ("open", "accepted")[n % 2]) for n, r in enumerate(records[:5000])])
        wanted = ListFilter(viewer="p1", now=NOW, all=True)
        busy = replace(wanted, text="NOTE 99", statuses=("generated",), pair="age+belief", type="age", locale="en_US")
        timings = {}
        for name, ask in {
            "texts": lambda: big.rows("SELECT id, context FROM records"),
            "all": lambda: list_items(big, wanted),
            "filtered": lambda: list_items(big, busy, "words"),
            "counts": lambda: (shown_status_counts(big), filter_choices(big)),
            "next": lambda: best_offer(big, "p2", NOW),
        }.items():
            spans = []
            for _ in range(5):
                started = time.perf_counter()
                ask()
                spans.append(time.perf_counter() - started)
            timings[name] = min(spans)
        assert list_items(big, wanted)[1] == 10_000
        everything, _ = list_items(big, replace(wanted, limit=1_000_000))
        assert len({item.text for item in everything}) == 10_000
        # The odd ones of the first half are finished: one accepted document is all that is wanted.
        assert list_items(big, busy, "words")[1] == sum(str(n).startswith("99") for n in range(5001, 10_000, 2))
    assert max(timings.values()) < 12 * timings["texts"], timings
