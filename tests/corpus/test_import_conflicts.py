"""Rows whose ids the store knows: the same ones are skipped, changed ones are never dropped without a word."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.importing import ImportConflict, ImportReport, OnConflict, import_file, import_file_among
from piiloom.corpus.record import Record, SourceReference
from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.store.annotation_events import stored_revisions
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.records import add_records, iter_records
from piiloom.corpus.store.releases import get_release, iter_release_records
from piiloom.corpus.store.runs import create_run

MakeRecord = Callable[..., Record]
Row = dict[str, object]


@pytest.fixture
def bring(store: Store, tmp_path: Path) -> Callable[..., ImportReport]:
    """Import rows as a native file called ``new.jsonl``."""

    def call(*rows: Row, on_conflict: OnConflict = "fail") -> ImportReport:
        file = tmp_path / "new.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return import_file(store, file, NativeFormat(), rejects_path=tmp_path / "r", on_conflict=on_conflict)

    return call


def relabelled(row: Row) -> Row:
    first, *rest = row["spans"]  # type: ignore[misc] # a list of spans
    return row | {"spans": [{**first, "relevance": "low"}, *rest]}


def bare(row: Row) -> Row:
    """*row* as a tool leaves it that knows texts and labels only."""
    spans = [{key: span[key] for key in ("start", "end", "text", "type", "relevance")} for span in row["spans"]]  # type: ignore[attr-defined]
    return {"id": row["id"], "context": row["context"], "question": row["question"], "spans": spans}


CHANGES: dict[str, Callable[[Row], Row]] = {
    "question": lambda row: row | {"question": "Which of the forms?"},
    "no question": lambda row: row | {"question": None},
    "text": lambda row: row | {"context": f"{row['context']} Thanks."},
    "labels": relabelled,
    "a span less": lambda row: row | {"spans": row["spans"][:1]},  # type: ignore[index]
    "a subtype": lambda row: row | {"spans": [{**row["spans"][0], "subtype": "trade"}, row["spans"][1]]},  # type: ignore[index]
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_row_is_named_and_nothing_is_imported(
    store: Store, bring: Callable[..., ImportReport], make_record: MakeRecord, change: str
) -> None:
    add_records(store, None, [(None, make_record(n)) for n in range(3)])
    rows = [row_of(make_record(n)) for n in (0, 1, 2, 3)]
    rows[1] = CHANGES[change](rows[1])
    with pytest.raises(ImportConflict, match=r"another text, question or labels: record-00001\..*--on-conflict") as caught:
        bring(*rows)
    assert caught.value.ids == ("record-00001",)
    assert list(iter_records(store)) == [make_record(n) for n in range(3)]


def test_many_conflicts_are_counted_and_the_first_named(store: Store, bring: Callable[..., ImportReport], make_record: MakeRecord) -> None:
    add_records(store, None, [(None, make_record(n)) for n in range(30)])
    with pytest.raises(ImportConflict, match=r"30 rows .* record-00011 and 18 more") as caught:
        bring(*(relabelled(row_of(make_record(n))) for n in range(30)))
    assert len(caught.value.ids) == 30


@pytest.mark.parametrize("on_conflict", ["fail", "skip", "update", "new"])
def test_the_same_row_is_the_same_whatever_it_leaves_unsaid(
    store: Store, bring: Callable[..., ImportReport], make_record: MakeRecord, on_conflict: OnConflict
) -> None:
    add_records(store, None, [(None, make_record(1))])
    for row in (row_of(make_record(1)), bare(row_of(make_record(1)))):
        report = bring(row, on_conflict=on_conflict)
        assert (report.rows, report.already_stored, report.records, report.updated) == (1, 1, 0, 0)
    assert list(iter_records(store)) == [make_record(1)]


def test_skipping_counts_what_it_leaves_out(store: Store, bring: Callable[..., ImportReport], make_record: MakeRecord) -> None:
    add_records(store, None, [(None, make_record(1))])
    report = bring(relabelled(row_of(make_record(1))), row_of(make_record(2)), row_of(make_record(1)) | {"id": "x"}, on_conflict="skip")
    assert (report.rows, report.records, report.skipped_changed, report.already_stored) == (3, 2, 1, 0)
    assert report.to_json()["skipped_changed"] == 1
    assert next(iter_records(store)) == make_record(1)


def test_an_update_is_the_next_revision_and_says_where_it_comes_from(
    store: Store, bring: Callable[..., ImportReport], make_record: MakeRecord
) -> None:
    run = create_run(store, provider="composer", model=None, seed=7, samples=2, config={}, config_digest="d")
    before = make_record(1)
    add_records(store, run.id, [(4, before), (5, make_record(2))])
    row = bare(row_of(before)) | {"context": f"{before.context} Thanks."}
    report = bring(row, row_of(make_record(2)), on_conflict="update")
    assert (report.records, report.updated, report.already_stored, report.spans) == (0, 1, 1, 2)
    first, second = sorted(iter_records(store, ids=[before.id]), key=lambda record: record.revision)
    assert first == before
    assert (second.revision, second.context, second.plan, second.group_keys) == (1, row["context"], before.plan, before.group_keys)
    assert second.source == SourceReference(file="new.jsonl", line=1, id=before.id)
    assert before.provenance is not None
    assert second.provenance == replace(before.provenance, stage="imported", parents=("p1@0", f"{before.id}@0"))
    kept = stored_revisions(store, [before.id])[before.id]
    assert [(one.run_id, one.plan_index, one.status) for one in kept] == [(run.id, 4, "generated"), (run.id, 4, "imported")]
    create_release(store, "v1", test_size=0, seed=7, run="last")
    assert [record.revision for record in iter_release_records(store, get_release(store, "v1"), "train")] == [1, 0]


def test_updating_twice_changes_nothing_and_an_old_file_is_told(
    store: Store, bring: Callable[..., ImportReport], make_record: MakeRecord
) -> None:
    add_records(store, None, [(None, make_record(1))])
    original, corrected = row_of(make_record(1)), relabelled(row_of(make_record(1)))
    assert bring(corrected, on_conflict="update").updated == 1
    again = bring(corrected, on_conflict="update")
    assert (again.updated, again.already_stored, again.earlier_revision) == (0, 1, 0)
    old = bring(original)
    assert (old.already_stored, old.earlier_revision) == (1, 1)
    assert [record.revision for record in iter_records(store)] == [0, 1]


def test_a_row_with_a_revision_of_its_own_keeps_its_number(
    store: Store, bring: Callable[..., ImportReport], make_record: MakeRecord
) -> None:
    add_records(store, None, [(None, make_record(1))])
    later = replace(make_record(1), revision=5, question="And now?")
    with pytest.raises(ImportConflict):
        bring(row_of(later))
    bring(row_of(later), on_conflict="update")
    assert [record.revision for record in iter_records(store)] == [0, 5]


def test_new_is_a_record_of_its_own_with_its_parent(store: Store, bring: Callable[..., ImportReport], make_record: MakeRecord) -> None:
    add_records(store, None, [(None, make_record(1))])
    corrected = relabelled(row_of(make_record(1)))
    report = bring(corrected, on_conflict="new")
    assert (report.records, report.as_new, report.updated) == (1, 1, 0)
    first, second = iter_records(store)
    assert first == make_record(1)
    assert second.id not in {first.id, ""}
    assert (second.revision, second.spans[0].relevance, second.group_keys) == (0, "low", first.group_keys)
    assert second.provenance is not None
    assert second.provenance.parents == ("p1@0", f"{first.id}@0")
    again = bring(corrected, on_conflict="new")
    assert (again.records, again.as_new, again.already_stored) == (0, 0, 1)


def test_what_people_validated_stands_above_a_row_made_from_an_older_text(
    store: Store, bring: Callable[..., ImportReport], make_record: MakeRecord
) -> None:
    add_records(store, None, [(None, make_record(1))])
    validated = replace(make_record(1), revision=1, question="Validated?")
    add_records(store, None, [(None, validated)], status="validated")
    report = bring(relabelled(row_of(make_record(1))), on_conflict="update")
    assert report.overruled == ("record-00001",)
    kept = stored_revisions(store, ["record-00001"])["record-00001"]
    assert [(one.revision, one.status) for one in kept] == [(0, "generated"), (1, "validated"), (2, "imported"), (3, "validated")]
    create_release(store, "any", test_size=0, seed=7)
    assert [(r.revision, r.question) for r in iter_release_records(store, get_release(store, "any"), "train")] == [(3, "Validated?")]
    # One that was made from the validated text itself stands.
    on_top = bring(relabelled(row_of(replace(validated, revision=3))), on_conflict="update")
    assert (on_top.updated, on_top.overruled) == (1, ())
    create_release(store, "later", test_size=0, seed=7)
    (released,) = iter_release_records(store, get_release(store, "later"), "train")
    assert (released.revision, released.spans[0].relevance) == (4, "low")


@pytest.mark.parametrize("on_conflict", ["fail", "skip", "update", "new"])
def test_among_others_it_is_the_same(tmp_path: Path, make_record: MakeRecord, on_conflict: OnConflict) -> None:
    file = tmp_path / "new.jsonl"
    rows = [row_of(make_record(n)) for n in range(700)]
    rows[650] = relabelled(rows[650])
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shared = SharedStore(Store.open(tmp_path / "a.duckdb"))
    with shared.writing() as store:
        add_records(store, None, [(None, make_record(650))])
    if on_conflict == "fail":
        with pytest.raises(ImportConflict):
            import_file_among(shared, file, "native", rejects_path=tmp_path / "r")
    else:
        report = import_file_among(shared, file, "native", rejects_path=tmp_path / "r", on_conflict=on_conflict)
        assert (report.records, report.updated + report.as_new + report.skipped_changed) == (700 if on_conflict == "new" else 699, 1)
    with shared.reading() as store:
        stored = list(iter_records(store))
    shared.close()
    assert len(stored) == {"fail": 1, "skip": 700, "update": 701, "new": 701}[on_conflict]
