"""Importing corrections of records that are on the work list: what nobody has begun starts anew, what people did is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from worklist_stories import WorkProject, composed

from piiloom.annotation_app.adjudication.resolving import Resolver
from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.importing import ImportReport, import_file, import_file_among
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import load_documents, read_events
from piiloom.corpus.store.annotation_items import base_records, find_item, item_facts
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.records import iter_records


@pytest.fixture
def project() -> WorkProject:
    with Store.open(MEMORY) as store:
        yield WorkProject(store, [composed(n) for n in range(3)])


def corrected(number: int) -> Record:
    was = composed(number)
    return replace(was, context=f"{was.context} Thanks a lot.", spans=was.spans[:2])


def brought(project: WorkProject, tmp_path: Path, *records: Record, among: bool = False) -> ImportReport:
    file = tmp_path / "corrected.jsonl"
    file.write_text("".join(json.dumps(row_of(record)) + "\n" for record in records))
    if among:
        return import_file_among(project.shared, file, "native", rejects_path=tmp_path / "r", on_conflict="update")
    with project.shared.alone() as store:
        return import_file(store, file, "native", rejects_path=tmp_path / "r", on_conflict="update")


def test_work_that_nobody_has_begun_starts_from_the_update(project: WorkProject, tmp_path: Path) -> None:
    name = composed(1).id
    project.work.assign("boss", [name], ["ann"])
    report = brought(project, tmp_path, corrected(1))
    assert (report.updated, report.begun, report.overruled) == (1, (), ())
    with project.shared.reading() as store:
        base, item = base_records(store, [name])[name], find_item(store, name)
        assert (base.revision, base.context) == (1, corrected(1).context)
        assert item is not None
        assert (item.status, dict(item.facts)) == ("generated", item_facts(base))
        assert [(e.actor, e.kind) for e in read_events(store, record_ids=[name])] == [
            ("boss", "pooled"),
            ("boss", "assigned"),
            ("import", "pooled"),
        ]
    project.assert_replay_equals_tables()
    assert project.next("ann") == name


@pytest.mark.parametrize("among", [False, True])
def test_what_people_have_begun_keeps_its_text_its_events_and_its_decision(project: WorkProject, tmp_path: Path, among: bool) -> None:
    name = project.next("ann")
    assert name is not None
    project.finish("ann", name)
    with project.shared.reading() as store:
        before, documents = read_events(store), load_documents(store)
    report = brought(project, tmp_path, corrected(int(name[-1])), among=among)
    assert (report.updated, report.begun) == (1, (name,))
    with project.shared.reading() as store:
        assert (read_events(store), load_documents(store)) == (before, documents)
        assert base_records(store, [name])[name].revision == 0
    project.assert_replay_equals_tables()
    assert Resolver(project.shared, project.log).settle_all().validated == [name]
    with project.shared.reading() as store:
        kept = list(iter_records(store, ids=[name]))
    assert [record.revision for record in kept] == [0, 1, 2]
    assert kept[1].context == corrected(int(name[-1])).context
    assert kept[2].context == kept[0].context


def test_while_the_app_runs_no_text_changes_under_a_page_that_shows_it(project: WorkProject, tmp_path: Path) -> None:
    report = brought(project, tmp_path, corrected(2), among=True)
    assert (report.updated, report.begun) == (1, (composed(2).id,))
    with project.shared.reading() as store:
        assert base_records(store, [composed(2).id])[composed(2).id].revision == 0


def test_a_late_correction_of_what_is_validated_does_not_undo_it(project: WorkProject, tmp_path: Path) -> None:
    name = project.next("ann")
    assert name is not None
    project.finish("ann", name, replace(project.base(name), question="Which of them?"))
    assert Resolver(project.shared, project.log).settle_all().validated == [name]
    report = brought(project, tmp_path, corrected(int(name[-1])))
    assert (report.updated, report.overruled, report.begun) == (1, (name,), ())
    with project.shared.reading() as store:
        kept = list(iter_records(store, ids=[name]))
    assert [(record.revision, record.question) for record in kept][-2:] == [(2, "Which forms do I need?"), (3, "Which of them?")]
