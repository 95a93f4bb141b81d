"""The newest state of each record and person: saved together, found by record and person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import (
    AnnotationDocument,
    AnnotationHead,
    list_heads,
    load_documents,
    newest_edits,
    save_documents,
)
from piiloom.corpus.store.annotation_items import AnnotationItem, add_items
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from piiloom.foundation.errors import StoreError


def document(record_id: str, annotator: str = "ada", event: int = 1, **fields: object) -> AnnotationDocument:
    row = AnnotationDocument(
        record_id=record_id,
        annotator=annotator,
        version=1,
        verdict="open",
        flagged=False,
        guideline=None,
        changed_at="2026-11-02T12:00:00.000+00:00",
        event=event,
        state={"document": {"context": "né 👩‍👧 \ud83d x", "question": None, "spans": []}, "verdict": "open", "reason": "", "flag": ""},
    )
    return replace(row, **fields)  # type: ignore[arg-type]


def test_saving_adds_what_is_new_and_replaces_what_is_there_in_one_go(store: Store) -> None:
    first = [document("r1"), document("r1", "bo"), document("r2")]
    save_documents(store, first)
    assert load_documents(store) == first
    newer = document("r1", event=7, version=2, verdict="accepted", flagged=True, guideline=4, state={"verdict": "accepted"})
    save_documents(store, [newer, document("r0", event=8)])
    assert load_documents(store) == [document("r0", event=8), newer, first[1], first[2]]
    save_documents(store, [])
    assert len(load_documents(store)) == 4


def test_documents_are_found_by_record_and_person(store: Store) -> None:
    save_documents(store, [document(record, who) for record in ("r1", "r2", "r3") for who in ("ada", "bo")])

    def found(**given: object) -> list[tuple[str, str]]:
        rows = load_documents(store, **given)  # type: ignore[arg-type]
        heads = list_heads(store, **given)  # type: ignore[arg-type]
        assert [(row.record_id, row.annotator) for row in rows] == [(head.record_id, head.annotator) for head in heads]
        return [(row.record_id, row.annotator) for row in rows]

    assert found(record_ids=["r3", "r1"], annotator="bo") == [("r1", "bo"), ("r3", "bo")]
    assert found(annotator="ada") == [("r1", "ada"), ("r2", "ada"), ("r3", "ada")]
    assert found(record_ids=[]) == []
    assert len(found()) == 6


def test_heads_are_documents_without_their_states(store: Store) -> None:
    row = document("r1", event=5, version=3, guideline=2)
    save_documents(store, [row])
    (head,) = list_heads(store)
    assert type(head) is AnnotationHead
    assert (head.version, head.guideline, head.event) == (3, 2, 5)


def test_newest_edits_tell_which_records_are_on_the_list_and_in_the_store(store: Store, make_record: Callable[..., Record]) -> None:
    rows = [make_record(n) for n in range(4)]
    add_records(store, None, [(None, record) for record in rows])
    orders = store.integers("SELECT record_order FROM records ORDER BY id")
    add_items(store, [AnnotationItem(record_id=rows[n].id, record_order=orders[n]) for n in range(3)])
    add_records(store, None, [(None, make_record(0, revision=1))])
    store.change("DELETE FROM records WHERE id = ?", [rows[2].id])
    save_documents(store, [document(rows[0].id, event=9), document(rows[1].id, "bo", event=4)])
    asked = [record.id for record in rows] + ["never heard of"]
    assert newest_edits(store, asked, "ada") == {rows[0].id: 9, rows[1].id: 0}


def test_two_rows_for_one_place_are_refused(store: Store) -> None:
    save_documents(store, [document("r1")])
    with pytest.raises(StoreError):
        save_documents(store, [document("r1", event=2), document("r1", event=3)])
    assert load_documents(store) == [document("r1")]
