"""Suggestions in the store: read from what a detector wrote, matched with records, renewed and withdrawn by later runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.annotation_events import read_events
from piiloom.corpus.store.annotation_items import AnnotationItem, add_items
from piiloom.corpus.store.annotation_project import ControlRow, add_controls
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.judgements import suggestion_runs, suggestions_for
from piiloom.corpus.store.records import add_records
from piiloom.corpus.suggesting import SUGGESTED, SuggestionReport, read_proposals, store_proposals
from piiloom.foundation.errors import DataError, UsageError

TEXT = "Ann is 34 and has asthma."


def record(number: int, text: str = TEXT, revision: int = 0) -> Record:
    return Record(
        id=f"r{number}", context=text, question="Why?", revision=revision, spans=(Span(id="s", start=0, end=3, entity_type="name"),)
    )


def row(
    record_id: str, *spans: tuple[int, int, str, float | None], text: str = TEXT, detector: str | None = "patterns", **more: object
) -> str:
    told = [
        {"start": start, "end": end, "text": text[start:end], "type": kind, "score": score, "detector": detector}
        for start, end, kind, score in spans
    ]
    return json.dumps({"id": record_id, "context": text, "spans": told, **more})


@pytest.fixture
def store():
    with Store.open(MEMORY) as opened:
        add_records(opened, None, [(None, record(n)) for n in (1, 2, 3)])
        orders = dict(opened.rows("SELECT id, record_order FROM records"))
        add_items(opened, [AnnotationItem(record_id=f"r{n}", record_order=orders[f"r{n}"]) for n in (1, 2)])
        yield opened


@pytest.fixture
def suggest(store, tmp_path):
    def act(
        *rows: str, detector: str | None = None, at: str = "2026-11-27T10:00:00.000+00:00", model: str | None = None
    ) -> SuggestionReport:
        path = tmp_path / "found.jsonl"
        path.write_text("\n".join(rows), encoding="utf-8")
        proposals = read_proposals(store, path, detector, tmp_path / "rejects.jsonl")
        return store_proposals(store, proposals, actor="boss", at=at, model=model)

    return act


def shown(store: Store, record_id: str = "r1") -> list[tuple[int, int, str, float | None, str]]:
    found = suggestions_for(store, [record_id]).get(record_id, [])
    return [(one.start, one.end, one.entity_type, one.score, one.detector) for one in found]


def test_what_a_detector_found_is_suggested(store, suggest):
    report = suggest(row("r1", (18, 24, "health", 0.9), (7, 9, "age", None)), row("r2"), detector="probe", model="m")
    assert (report.records, report.counts.added, report.rows, report.rejected) == (2, 2, 2, ())
    assert shown(store) == [(7, 9, "age", None, "probe"), (18, 24, "health", 0.9, "probe")]
    first = suggestions_for(store, ["r1"])["r1"][0]
    assert (first.found_by, first.model, first.revision, first.text) == ("patterns", "m", 0, None)
    assert [(run.detector, run.made_by) for run in suggestion_runs(store)] == [("probe", "boss")]
    assert store.rows("SELECT record_id FROM suggested_records ORDER BY 1") == [("r1",), ("r2",)]
    event = read_events(store, kinds=[SUGGESTED])[0]
    assert (event.actor, event.entry["added"], event.entry["rejected"]) == ("boss", 2, 0)


def test_a_later_run_renews_and_withdraws_its_own_only(store, suggest):
    suggest(row("r1", (7, 9, "age", 0.5), (18, 24, "health", 0.9)), row("r2", (7, 9, "age", 0.4)))
    suggest(row("r1", (0, 3, "name", 0.7), detector="probe"))
    report = suggest(row("r1", (7, 9, "age", 0.8), (10, 13, "name", 0.1)))
    assert (report.counts.added, report.counts.known, report.counts.withdrawn) == (1, 1, 1)
    assert shown(store) == [(0, 3, "name", 0.7, "probe"), (7, 9, "age", 0.8, "patterns"), (10, 13, "name", 0.1, "patterns")]
    assert shown(store, "r2") == [(7, 9, "age", 0.4, "patterns")]
    assert store.rows("SELECT withdrawn, entity_type FROM suggestions WHERE withdrawn IS NOT NULL") == [("superseded", "health")]
    assert suggest(row("r1", (18, 24, "health", 0.6))).counts.known == 1
    assert (18, 24, "health", 0.6, "patterns") in shown(store)


def test_the_same_file_twice_changes_nothing(store, suggest):
    rows = [row("r1", (7, 9, "age", 0.5), (7, 9, "age", 0.5))]
    assert suggest(*rows).counts.added == 1
    again = suggest(*rows)
    assert (again.counts.added, again.counts.known, again.counts.withdrawn) == (0, 1, 0)
    assert len(shown(store)) == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (row("r9", (7, 9, "age", 0.5)), "the store has no record of this id"),
        (row("r1", (7, 9, "age", 0.5), text="Ben is 35"), "the text is none that the record has in the store"),
        (row("r1", (7, 9, "age", 1.5)), "the score of span 1 is not from 0 to 1"),
        (row("r1", (7, 9, "age", 0.5)).replace('"34"', '"35"'), "span 1 [7, 9) does not have the text that it tells"),
        (row("r1", (7, 7, "age", 0.5)), "span 1 [7, 7) does not have the text that it tells"),
        ("[]", "not a JSON object"),
        (json.dumps({"context": TEXT, "spans": []}), "the row has no id, so that its record is not known"),
        (json.dumps({"id": "r1", "context": TEXT}), "spans: is missing"),
    ],
)
def test_a_row_that_does_not_fit_is_rejected_with_its_reason(store, suggest, tmp_path, line, reason):
    report = suggest(row("r2", (7, 9, "age", 0.5)), line)
    assert [number for number, _ in report.rejected] == [2]
    assert reason.partition(":")[0] in report.rejected[0][1]
    kept = json.loads((tmp_path / "rejects.jsonl").read_text(encoding="utf-8"))
    assert (kept["line"], kept["reason"]) == report.rejected[0]
    assert shown(store) == []


def test_a_record_twice_is_taken_once(suggest):
    assert suggest(row("r1", (7, 9, "age", 0.5)), row("r1", (18, 24, "health", 0.5))).rejected == ((2, "the record is in the file twice"),)


def test_unknown_types_are_counted_and_left_out(store, suggest):
    assert suggest(row("r1", (7, 9, "shoe size", 0.5), (0, 3, "name", 0.5))).unknown_types == {"shoe size": 1}
    assert shown(store) == [(0, 3, "name", 0.5, "patterns")]


def test_a_file_about_nothing_here_is_an_error(suggest, store):
    with pytest.raises(DataError, match="no row is about a record of the store; the first fault"):
        suggest(row("r9", (7, 9, "age", 0.5)))
    assert suggestion_runs(store) == []


def test_whose_they_are_must_be_known(suggest):
    with pytest.raises(UsageError, match="name several detectors"):
        suggest(row("r1", (7, 9, "age", 0.5)), row("r2", (7, 9, "age", 0.5), detector="probe"))
    with pytest.raises(UsageError, match="name no detector"):
        suggest(row("r1", (7, 9, "age", 0.5), detector=None))
    with pytest.raises(UsageError, match="no name of a detector"):
        suggest(row("r1", (7, 9, "age", 0.5)), detector="a\nb")


def test_they_belong_to_the_revision_that_has_the_text(store, suggest):
    newer = f"Hello. {TEXT}"
    add_records(store, None, [(None, record(1, newer, revision=1))])
    suggest(row("r1", (7 + 7, 9 + 7, "age", 0.5), text=newer), row("r2", (7, 9, "age", 0.5)))
    one = suggestions_for(store, ["r1"])["r1"][0]
    assert (one.revision, one.text) == (1, newer)  # annotation began with revision 0
    assert suggestions_for(store, ["r2"])["r2"][0].text is None


def test_only_the_work_list_has_suggestions_and_a_hidden_control_looks_like_work(store, suggest):
    suggest(row("r1", (7, 9, "age", 0.5)), row("r3", (7, 9, "age", 0.5)))
    assert suggestions_for(store, ["r3"]) == {}
    add_records(store, None, [(None, record(4))], status="control")
    order = store.rows("SELECT record_order FROM records WHERE id = 'r4'")[0][0]
    add_items(store, [AnnotationItem(record_id="r4", record_order=order, role="control")])
    add_controls(store, [ControlRow(record_id="r4", kind="gold", source_id="r1", entry={})])
    one = suggestions_for(store, ["r4", "r1"])["r4"][0]
    assert (one.record_id, one.start, one.text) == ("r4", 7, TEXT)


def test_nothing_is_stored_if_the_event_cannot_be(store, suggest, tmp_path, monkeypatch):
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("piiloom.corpus.suggesting.append_events", fail)
    with pytest.raises(RuntimeError):
        suggest(row("r1", (7, 9, "age", 0.5)))
    assert store.rows("SELECT count(*) FROM suggestions") == [(0,)]


def test_rejects_of_an_earlier_file_go(suggest, tmp_path: Path):
    suggest(row("r1", (7, 9, "age", 0.5)), "[]")
    suggest(row("r1", (7, 9, "age", 0.5)))
    assert not (tmp_path / "rejects.jsonl").exists()
