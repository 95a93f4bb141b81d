"""What a release keeps: filters and what they left out, its content hash, values drawn anew, and what older stores hold of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from piiloom.corpus.record import Record
from piiloom.corpus.releases.exporting import ContentHash, export_release
from piiloom.corpus.releases.freezing import create_or_confirm_release, create_release
from piiloom.corpus.store.annotation_events import Adjudication, AnnotationDocument, DecisionOutcome, add_adjudications, save_documents
from piiloom.corpus.store.annotation_items import AnnotationItem, add_items
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.deleting import delete_release
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.releases import (
    NewValue,
    ReleaseRow,
    count_members,
    get_release,
    insert_release,
    iter_release_records,
    new_values_of,
    release_places,
)
from piiloom.corpus.store.runs import create_run
from piiloom.corpus.store.upgrading import MIGRATIONS, Migrations
from piiloom.foundation.errors import ReleaseError, UsageError
from tests.longer import mostly_long

MakeRecord = Callable[..., Record]
BEFORE = Migrations(MIGRATIONS.steps[:5])


def named(number: int) -> str:
    return f"record-{number:05d}"


@pytest.fixture
def project(store: Store, make_record: MakeRecord) -> Store:
    """Eight records of a run, the last two of them Brazilian, two imported ones, and what people and judges said of them."""
    run = create_run(store, provider="composer", model=None, seed=1, samples=8, config={}, config_digest="d")
    records = [
        make_record(
            n,
            locale="pt_BR" if n in {6, 7} else "en_US",
            context=f"As a baker with asthma, I {' '.join(f'w{n}x{k}' for k in range(9))}.",
            question=None,
            group_keys=(),
        )
        for n in range(10)
    ]
    add_records(store, run.id, list(enumerate(records[:8])))
    add_records(store, None, [(None, record) for record in records[8:]], status="imported")
    add_items(store, [AnnotationItem(record_id=named(n), record_order=n + 1) for n in range(6)])
    span = {"start": 5, "end": 10, "type": "occupation", "relevance": "high"}
    versions = {0: ([span], [span]), 1: ([span], []), 2: ([span], [{**span, "relevance": "low"}]), 3: ([span],)}
    for number, spans in versions.items():
        save_documents(store, [finished(number, who, marks) for who, marks in zip("ab", spans, strict=False)])
    outcomes: list[tuple[int, DecisionOutcome]] = [
        (0, "agreed"),
        (1, "adjudicated"),
        (2, "validated"),
        (3, "rejected"),
        (4, "agreed"),
        (4, "reopened"),
    ]
    add_adjudications(store, [decided(event, number, outcome) for event, (number, outcome) in enumerate(outcomes)])
    columns = ("record_id", "run_id", "plan_index", "kind", "score", "verdict", "agrees", "reason")
    judged = [(named(n), run.id, n, "relevance", 1.0, "high", n != 5, "") for n in (0, 5)]
    store.append("judgements", columns, judged)
    return store


def finished(number: int, who: str, spans: list[dict[str, Any]]) -> AnnotationDocument:
    document = {"context": f"As a baker with asthma, I wrote note {number}.", "question": None, "spans": spans}
    return AnnotationDocument(
        record_id=named(number),
        annotator=who,
        version=1,
        verdict="accepted",
        flagged=False,
        guideline=1,
        changed_at="2026",
        event=1,
        state={"document": document, "verdict": "accepted"},
    )


def decided(event: int, number: int, outcome: DecisionOutcome) -> Adjudication:
    return Adjudication(record_id=named(number), adjudicator="eva", outcome=outcome, document={}, made_at="2026", event=event)


@pytest.mark.parametrize(
    ("options", "numbers", "left_out"),
    [
        ({}, [0, 1, 2, 5, 6, 7, 8, 9], {}),
        ({"status": "imported"}, [8, 9], {"status": 6}),
        ({"status": "adjudicated"}, [0, 1], {"status": 6}),
        ({"run": "last"}, [0, 1, 2, 5, 6, 7], {"run": 2}),
        ({"locale": "pt_BR"}, [6, 7], {"locale": 6}),
        ({"min_agreement": 1.0}, [0], {"min agreement": 7}),
        ({"min_agreement": 0}, [0, 1, 2], {"min agreement": 5}),
        ({"judged": "agree"}, [0, 1, 2, 6, 7, 8, 9], {"judged": 1}),
        ({"judged": "agree", "run": "last", "locale": "en_US"}, [0, 1, 2], {"run": 2, "judged": 1, "locale": 2}),
    ],
)
def test_filters_count_what_they_leave_out(project: Store, options: dict[str, Any], numbers: list[int], left_out: dict[str, int]) -> None:
    row = create_release(project, "v1", test_size=0, **options)
    assert list(release_places(project, get_release(project, "v1"))) == [named(n) for n in numbers]
    assert row.left_out == {"rejected or reopened": 2, **left_out}
    assert get_release(project, "v1") == row


def test_filters_that_leave_nothing_are_told(project: Store) -> None:
    with pytest.raises(ReleaseError, match=r"no records to release.*rejected or reopened 2, status 6, locale 2"):
        create_release(project, "v1", test_size=0, status="imported", locale="pt_BR")


@pytest.mark.parametrize("count", [1, 2])
def test_records_that_cannot_be_divided_are_all_in_train_unless_a_test_split_was_asked_for(
    store: Store, make_record: MakeRecord, count: int
) -> None:
    # Two records of one story are one group.
    add_records(store, None, [(None, make_record(n, group_keys=("story:1",))) for n in range(count)], status="imported")
    row = create_release(store, "v1")
    assert count_members(store, get_release(store, "v1")) == {"train": count}
    assert (row.test_size, row.split_settings["test_size"]) == ("0", 0)
    assert row.notes[-1].startswith("no test split")
    assert create_or_confirm_release(store, "v1") == row
    for options in ({"test_size": 0.1}, {"test_size": 1}, {"validation_size": 0.1}):
        with pytest.raises(UsageError, match="nothing to train on"):
            create_release(store, "v2", **options)


@pytest.mark.long
def test_a_release_made_again_has_the_same_hash_and_bytes(project: Store, tmp_path: Path) -> None:
    options = {"test_size": 2, "seed": 3, "version": "2.1.0", "license": "CC-BY-4.0", "locale": "en_US", "group_by": ("contexts",)}
    first = create_or_confirm_release(project, "v1", **options)  # type: ignore[arg-type] # the keywords are those of ReleaseOptions
    assert create_or_confirm_release(project, "v1", **options) == first  # type: ignore[arg-type]
    export_release(project, "v1", "native", tmp_path / "a")
    delete_release(project, "v1")
    again = create_or_confirm_release(project, "v1", **options)  # type: ignore[arg-type]
    assert again.content_sha256 == first.content_sha256
    export_release(project, "v1", "native", tmp_path / "b")
    one, other = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "ab")
    assert one == other
    for change in ({"version": "2.1.1"}, {"license": None}, {"locale": None}, {"group_by": ("keys",)}):
        with pytest.raises(ReleaseError, match="made with other settings"):
            create_or_confirm_release(project, "v1", **(options | change))  # type: ignore[arg-type]


def test_the_manifest_says_what_was_frozen(project: Store, tmp_path: Path) -> None:
    create_release(project, "v1", test_size=2, version="2.0.0", license="CC0-1.0", run="last", judged="agree", group_by=())
    export_release(project, "v1", "native", tmp_path / "out", splits=["test"])
    about = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
    assert list(about["splits"]) == ["test"]
    assert (about["version"], about["license"], about["schema_version"]) == ("2.0.0", "CC0-1.0", MIGRATIONS.latest)
    content = ContentHash()
    for split in ("train", "test"):
        for _ in content.watching(split, iter_release_records(project, get_release(project, "v1"), split)):
            pass
    assert about["content_sha256"] == content.hexdigest()
    assert (about["settings"]["test_size"], about["settings"]["seed"]) == (2, 7)
    assert about["filters"] == {
        "status": "any",
        "locale": None,
        "min_agreement": None,
        "judged": "agree",
        "one_run": True,
        "left_out": {"rejected or reopened": 2, "run": 2, "judged": 1},
    }
    assert about["statuses"] == {"generated": 5}
    assert about["judged"] == [{"kind": "relevance", "judged": 1, "disagree": 0, "records": 0}]
    assert (get_release(project, "v1").run_id or "?") not in json.dumps(about)


def test_values_drawn_anew_are_in_the_release_and_not_in_the_store(store: Store, make_record: MakeRecord, tmp_path: Path) -> None:
    record = make_record(1)
    add_records(store, None, [(None, record), (None, make_record(2))])
    new = NewValue(record_id=record.id, revision=0, start=16, end=22, value="hay fever")
    members = [(record.id, 0, "train"), (named(2), 0, "test")]
    release = insert_release(store, ReleaseRow(name="v1", seed=1, test_size="0"), members, [], [new])
    (held,) = iter_release_records(store, release, "train")
    assert held.context == "As a baker with hay fever, I wrote note 1."
    assert [span.text_in(held.context) for span in held.spans] == ["baker", "hay fever"]
    assert list(iter_release_records(store, release, "test")) == [make_record(2)]
    export_release(store, "v1", "native", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "release.json").read_text())["new_values"] == 1
    assert "hay fever" in (tmp_path / "out" / "train.jsonl").read_text()
    delete_release(store, "v1")
    assert new_values_of(store, release) == []
    assert store.rows("SELECT count(*) FROM release_values") == [(0,)]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET context = replace(context, 'wrote', 'WROTE') WHERE id = 'record-00001'",
        "UPDATE spans SET relevance = 'low' WHERE record_order = 1",
        "UPDATE release_members SET split = 'test' WHERE record_order = 1",
        "DELETE FROM release_members WHERE record_order = 1",
    ],
)
@pytest.mark.parametrize("splits", mostly_long([[], ["test"]], quick=[[]]))
def test_a_store_that_was_tampered_with_is_not_exported(
    store: Store, make_record: MakeRecord, tmp_path: Path, statement: str, splits: list[str]
) -> None:
    add_records(
        store, None, [(None, make_record(n, group_keys=(), context=f"As a baker with asthma, I wrote {n}{n * 7}.")) for n in range(6)]
    )
    members = [(named(n), 0, "test" if n > 3 else "train") for n in range(6)]
    content = ContentHash()
    insert_release(store, ReleaseRow(name="draft", seed=1, test_size="2"), members)
    for split in ("train", "test"):
        list(content.watching(split, iter_release_records(store, get_release(store, "draft"), split)))
    insert_release(store, ReleaseRow(name="v1", seed=1, test_size="2", content_sha256=content.hexdigest()), members)
    export_release(store, "v1", "native", tmp_path / "before", splits=splits)
    store.change(statement)
    with pytest.raises(ReleaseError, match="no longer those that were frozen"):
        export_release(store, "v1", "native", tmp_path / "out", splits=splits)
    assert [path.name for path in tmp_path.iterdir()] == ["before"]


def test_releases_of_older_stores_are_kept(store_path: Path, make_record: MakeRecord, tmp_path: Path) -> None:
    with Store.open(store_path, migrations=BEFORE) as old:
        add_records(old, None, [(None, make_record(n)) for n in (1, 2)])
        old.change("INSERT INTO releases VALUES ('old', 1, 5, '0.25', NULL, 'any')")
        old.change("INSERT INTO release_members VALUES ('old', 'train', 1), ('old', 'test', 2)")
    with Store.open(store_path) as store:
        row = get_release(store, "old")
        assert (row.version, row.content_sha256, row.license, row.leakage, row.notes) == ("1.0.0", None, None, None, ())
        assert (row.split_settings["test_size"], row.split_settings["seed"]) == (0.25, 5)
        assert row.split_settings["group_by"] == ["keys", "contexts"]
        assert row.record_choice == {"status": "any", "run_id": None, "locale": None, "min_agreement": None, "judged": "any"}
        export_release(store, "old", "native", tmp_path / "out")
        assert json.loads((tmp_path / "out" / "release.json").read_text())["content_sha256"] is None
        assert create_release(store, "new", test_size=0).created_order == 2
