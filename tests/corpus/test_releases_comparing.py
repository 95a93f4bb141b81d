"""What leads from one release to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from piiloom.corpus.record import Record, Span
from piiloom.corpus.releases.comparing import LabelChange, compare_releases, record_change
from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records, iter_records
from piiloom.corpus.store.releases import NewValue, ReleaseRow, insert_release
from piiloom.foundation.errors import ReleaseError
from tests.longer import case_by_case

MakeRecord = Callable[..., Record]
JOB = Span(id="s1", start=5, end=10, entity_type="occupation", relevance="high")
ILLNESS = Span(id="s2", start=16, end=22, entity_type="health", relevance="high")
TEXT = "As a baker with asthma, I wrote."


def changes(before: Sequence[Span], after: Sequence[Span], text: str = TEXT) -> list[tuple[str, str | None, str | None]]:
    found = record_change(Record(id="r", context=TEXT, spans=tuple(before)), Record(id="r", context=text, spans=tuple(after)))
    return [] if found is None else [(label.kind, label.before, label.after) for label in found.labels]


@case_by_case(
    ("after", "expected"),
    [
        ([JOB, ILLNESS], []),
        ([replace(JOB, id="x"), replace(ILLNESS, id="y")], []),
        ([ILLNESS], [("removed", "occupation: baker", None)]),
        ([JOB, ILLNESS, Span(id="s0", start=24, end=25, entity_type="name")], [("added", None, "name: I")]),
        ([replace(JOB, entity_type="name"), ILLNESS], [("type", "occupation", "name")]),
        ([JOB, replace(ILLNESS, relevance=None)], [("relevance", "high", None)]),
        ([replace(JOB, start=3), ILLNESS], [("boundaries", "occupation: baker", "occupation: a baker")]),
        # The ids are those of other spans: ranges decide.
        ([replace(ILLNESS, id="s1")], [("removed", "occupation: baker", None)]),
    ],
)
def test_labels_of_the_same_text(after: list[Span], expected: list[tuple[str, str | None, str | None]]) -> None:
    assert changes([JOB, ILLNESS], after) == expected


def test_labels_of_another_text_are_paired_by_words_and_then_by_id() -> None:
    moved = replace(JOB, start=6, end=11, id="other")
    other = replace(ILLNESS, start=17, end=22, relevance="low")
    found = changes([JOB, ILLNESS], [moved, other], "As  a baker with gout!, I wrote.")
    assert found == [("value", "health: asthma", "health: gout!"), ("relevance", "high", "low")]


def test_two_releases_of_a_store(store: Store, make_record: MakeRecord) -> None:
    records = [make_record(n) for n in range(6)]
    add_records(store, None, [(None, record) for record in records[:5]])
    create_release(store, "one", test_size=0, seed=1)
    edited = replace(records[1], revision=1, question="Edited?", spans=records[1].spans[:1])
    add_records(store, None, [(None, edited), (None, records[5])])
    members = [(record.id, record.revision, "test" if record.id == records[2].id else "train") for record in (edited, *records[2:])]
    new = NewValue(record_id=records[3].id, revision=0, start=16, end=22, value="gout")
    insert_release(store, ReleaseRow(name="two", seed=1, test_size="1", version="2.0.0"), members, [], [new])
    diff = compare_releases(store, "one", "two")
    assert diff.added == ((records[5].id, "train"),)
    assert diff.removed == ((records[0].id, "train"),)
    assert diff.moved == ((records[2].id, "train", "test"),)
    assert [(one.record_id, one.context, one.question) for one in diff.changed] == [(edited.id, False, True), (records[3].id, True, False)]
    assert diff.changed[1].labels == (LabelChange(kind="value", before="health: asthma", after="health: gout"),)
    assert diff.kinds() == {"context": 1, "question": 1, "removed": 1, "value": 1}
    assert ("version", "1.0.0", "2.0.0") in diff.settings
    assert diff.to_json()["moved"] == [{"record": records[2].id, "before": "train", "after": "test"}]
    with pytest.raises(ReleaseError, match="no release 'three'"):
        compare_releases(store, "one", "three")
    assert len(list(iter_records(store))) == 7


def test_equal_releases_have_the_same_content(store: Store, make_record: MakeRecord) -> None:
    add_records(store, None, [(None, make_record(n)) for n in range(3)])
    for name in ("one", "two"):
        create_release(store, name, test_size=0, seed=1)
    diff = compare_releases(store, "one", "two")
    assert (diff.same_content, diff.settings, diff.changed) == (True, (), ())
