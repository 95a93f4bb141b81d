"""Frozen releases and their files: what is in them, what never changes, what is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from piiloom.corpus.formats.base import ReadOptions, read_records
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.importing import import_file
from piiloom.corpus.record import Provenance, Record, SourceReference
from piiloom.corpus.releases.exporting import export_release
from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records, iter_records
from piiloom.corpus.store.releases import get_release, iter_release_records, withheld_of
from piiloom.corpus.store.runs import create_run
from piiloom.foundation.errors import OutputError, ReleaseError, RunError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy

MakeRecord = Callable[..., Record]


@pytest.fixture
def filled(store: Store, make_record: MakeRecord) -> Store:
    """Twenty records of twenty scenarios, contexts far apart."""
    contexts = [f"As a baker with asthma, I {' '.join(f'w{n}x{k}' for k in range(9))}." for n in range(20)]
    alone = {"question": None, "provenance": Provenance(stage="screen", provider="composer")}
    items = [make_record(n, context=text, group_keys=(f"scenario:{n}",), **alone) for n, text in enumerate(contexts)]
    add_records(store, None, [(None, item) for item in items])
    return store


def ids(store: Store, name: str, split: str) -> list[str]:
    return [record.id for record in iter_release_records(store, get_release(store, name), split)]


def test_a_release_is_frozen_with_exact_splits(filled: Store, make_record: MakeRecord) -> None:
    row = create_release(filled, "one", test_size=5, seed=3)
    assert (row.test_size, row.seed, row.status_filter, row.run_id) == ("5", 3, "any", None)
    assert get_release(filled, "one") == row
    train, test = ids(filled, "one", "train"), ids(filled, "one", "test")
    assert (len(train), len(test), withheld_of(filled, get_release(filled, "one"))) == (15, 5, [])
    add_records(filled, None, [(None, make_record(99))])
    edited = replace(next(iter_records(filled)), revision=1, question="Edited?")
    add_records(filled, None, [(None, edited)])
    assert (ids(filled, "one", "train"), ids(filled, "one", "test")) == (train, test)
    create_release(filled, "two", test_size=0, seed=3)
    later = {r.id: r for r in iter_release_records(filled, get_release(filled, "two"), "train")}
    assert len(later) == 21
    assert (later[edited.id].revision, later[edited.id].question) == (1, "Edited?")


def test_a_release_may_take_one_run_and_one_status(filled: Store, make_record: MakeRecord) -> None:
    run = create_run(filled, provider="composer", model=None, seed=1, samples=3, config={}, config_digest="d")
    add_records(filled, run.id, [(n, make_record(n)) for n in range(3)])
    add_records(filled, run.id, [(7, make_record(7))], status="validated")
    assert create_release(filled, "run", test_size=0, seed=0, run="last").run_id == run.id
    assert ids(filled, "run", "train") == ["record-00000", "record-00001", "record-00002", "record-00007"]
    create_release(filled, "validated", test_size=0, seed=0, status="validated")
    assert ids(filled, "validated", "train") == ["record-00007"]
    create_release(filled, "all", test_size=0, seed=0)
    assert len(ids(filled, "all", "train")) == 20
    with pytest.raises(RunError):
        create_release(filled, "x", test_size=0, seed=0, run="nobody")


@pytest.mark.parametrize(
    ("name", "changes", "error", "message"),
    [
        ("taken", {}, ReleaseError, "already"),
        ("new", {"status": "validated"}, ReleaseError, "no records .*|status validated"),
        ("new", {"test_size": 20}, UsageError, "nothing to train on"),
        (" ", {}, UsageError, "needs a name"),
    ],
)
def test_a_release_that_cannot_be(filled: Store, name: str, changes: dict[str, object], error: type[Exception], message: str) -> None:
    create_release(filled, "taken", test_size=0, seed=0)
    with pytest.raises(error, match=message):
        create_release(filled, name, **{"test_size": 2, "seed": 0, **changes})  # type: ignore[arg-type] # keywords of create_release


def test_an_export_holds_its_splits_and_a_manifest_without_clock_or_path(filled: Store, tmp_path: Path) -> None:
    create_release(filled, "one", test_size=0.25, seed=3)
    out = tmp_path / "deep" / "one"
    report = export_release(filled, "one", "native", out)
    assert sorted(p.name for p in out.iterdir()) == ["release.json", "test.jsonl", "train.jsonl"]
    about = json.loads((out / "release.json").read_text(encoding="utf-8"))
    assert (about["schema"], about["name"], about["format"], about["seed"], about["test_size"]) == (1, "one", "native", 3, "0.25")
    assert about["files"] == {
        name: {"split": name.split(".")[0], "records": n, "sha256": hashlib.sha256((out / name).read_bytes()).hexdigest()}
        for name, n in (("train.jsonl", 15), ("test.jsonl", 5))
    }
    assert about["splits"]["test"] == {
        "records": 5,
        "spans": 10,
        "types": {"health": 5, "occupation": 5},
        "relevance": {"high": 10},
        "pairs": {"health+occupation": 5},
        "locales": {"en_US": 5},
        "producers": {"composed by piiloom's composer (a template-based generator, no language model)": 5},
        "relevance_by_type": {"health": {"high": 5}, "occupation": {"high": 5}},
    }
    assert "20 composed by piiloom's composer (a template-based generator" in about["description"]
    assert (about["withheld"], about["loss"]) == ([], {"fields": [], "reasons": {}, "entries": []})
    assert str(tmp_path) not in json.dumps(about)
    assert (report.to_json()["out"], report.withheld) == (str(out), 0)
    for split in ("train", "test"):
        assert list(
            read_records(
                get_format("native"), out / f"{split}.jsonl", options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True)
            )
        ) == list(iter_release_records(filled, get_release(filled, "one"), split))


def test_the_same_release_gives_the_same_bytes_from_another_store(filled: Store, tmp_path: Path) -> None:
    create_release(filled, "one", test_size=4, seed=3)
    with Store.open(tmp_path / "other.duckdb") as other:
        add_records(other, None, [(None, record) for record in iter_records(filled)])
        create_release(other, "one", test_size=4, seed=3)
        for name, store in (("a", filled), ("b", other)):
            export_release(store, "one", "native", tmp_path / name)
    first, second = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("a", "b"))
    assert first == second


def test_a_release_without_test_split_has_no_test_file(filled: Store, tmp_path: Path) -> None:
    create_release(filled, "one", test_size=0, seed=0)
    export_release(filled, "one", "capid", tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["release.json", "train.jsonl"]


def test_losses_and_withheld_records_are_in_the_manifest(store: Store, make_record: MakeRecord, tmp_path: Path) -> None:
    alone = {"question": None, "provenance": Provenance(stage="screen", provider="composer")}
    contexts = [f"As a baker with asthma, w{n} {n} x{n} y{n} z{n}" for n in range(20)]
    items = [make_record(n, group_keys=(f"scenario:{n // 5}",), context=text, **alone) for n, text in enumerate(contexts)]
    items[0] = replace(items[0], spans=tuple(replace(span, relevance=None) for span in items[0].spans))
    items[1] = replace(items[1], provenance=None, source=SourceReference(file="notes.jsonl"))
    items[5] = replace(items[5], provenance=None, plan=None)
    items[10] = replace(items[10], provenance=Provenance(stage="screen", provider="openai", model="m-1"))
    add_records(store, None, [(None, item) for item in items])
    create_release(store, "one", test_size=7, seed=1)
    export_release(store, "one", "capid", tmp_path / "out")
    about = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
    assert len(about["withheld"]) == 3
    assert {entry["record"] for entry in about["withheld"]} == {record_id for record_id, _ in withheld_of(store, get_release(store, "one"))}
    assert about["loss"]["reasons"] == {"no relevance: the value is left out": 2}
    assert [(e["record"], e["value"]) for e in about["loss"]["entries"]] == [("record-00000", "baker"), ("record-00000", "asthma")]
    assert "subject" in about["loss"]["fields"]
    assert ", 1 imported, 1 of unstated origin, 1 written through openai by m-1." in about["description"]


def test_a_folder_with_something_in_it_is_only_replaced_on_demand(filled: Store, tmp_path: Path) -> None:
    create_release(filled, "one", test_size=3, seed=0)
    create_release(filled, "two", test_size=0, seed=0)
    export_release(filled, "one", "native", tmp_path)
    (tmp_path / "mine.txt").write_text("keep me")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(OutputError, match="not empty") as caught:
        export_release(filled, "two", "native", tmp_path)
    assert caught.value.exit_code == 1
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    export_release(filled, "two", "native", tmp_path, force=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.txt", "release.json", "train.jsonl"]
    assert json.loads((tmp_path / "release.json").read_text())["name"] == "two"


def test_an_export_that_fails_leaves_nothing_half_done(filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create_release(filled, "one", test_size=3, seed=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="not a folder"):
        export_release(filled, "one", "native", tmp_path / "file")
    with pytest.raises(OutputError, match="cannot be written"):
        export_release(filled, "one", "native", tmp_path / "file" / "below")

    def no_room(self: Path, *args: object, **kwargs: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", no_room)
    with pytest.raises(OutputError, match="No space left on device"):
        export_release(filled, "one", "native", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_unknown_releases_and_formats_write_nothing(filled: Store, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no release 'none'"):
        export_release(filled, "none", "native", tmp_path / "out")
    create_release(filled, "one", test_size=0, seed=0)
    with pytest.raises(UsageError, match="unknown format"):
        export_release(filled, "one", "xlsx", tmp_path / "out")
    assert not (tmp_path / "out").exists()


FOREIGN = b'{"my": "own work of three weeks"}\n'


@pytest.mark.parametrize("name", ["train.jsonl", "test.jsonl", "release.json"])
def test_force_replaces_only_what_an_export_wrote(filled: Store, tmp_path: Path, name: str) -> None:
    create_release(filled, "one", test_size=0, seed=0)
    (tmp_path / name).write_bytes(FOREIGN)
    with pytest.raises(OutputError, match=f"{name}: .*not written by an export.*--out"):
        export_release(filled, "one", "native", tmp_path, force=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {name: FOREIGN}


@pytest.mark.parametrize("name", ["train.jsonl", "test.jsonl"])
def test_force_spares_what_was_changed_since_or_came_later(filled: Store, tmp_path: Path, name: str) -> None:
    create_release(filled, "one", test_size=0, seed=0)
    export_release(filled, "one", "native", tmp_path)
    (tmp_path / name).write_bytes(FOREIGN)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(OutputError, match=f"{name}: the file was ({'changed since' if name == 'train.jsonl' else 'not written'})"):
        export_release(filled, "one", "capid", tmp_path, force=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    (tmp_path / name).unlink()
    export_release(filled, "one", "capid", tmp_path, force=True)
    assert json.loads((tmp_path / "release.json").read_text())["format"] == "capid"


@pytest.mark.parametrize("foreign", ["[]", "{", '{"schema": 1, "piiloom": "1", "files": ["train.jsonl"]}', '{"files": {}}', "\x00"])
def test_a_description_of_somebody_elses_is_not_replaced(filled: Store, tmp_path: Path, foreign: str) -> None:
    create_release(filled, "one", test_size=0, seed=0)
    (tmp_path / "release.json").write_text(foreign)
    with pytest.raises(OutputError, match=r"release\.json: the file was not written"):
        export_release(filled, "one", "native", tmp_path, force=True)
    assert (tmp_path / "release.json").read_text() == foreign


@pytest.mark.parametrize("name", ["native", "capid"])
def test_what_was_lost_at_import_is_in_the_description(store: Store, tmp_path: Path, name: str) -> None:
    context = "I am 34 years old and call my bisexuality a gift."
    piis = {"34": "age", "34 years old": "age", "bisexual": "sexual orientation", "34F": "age"}
    row = {"context": context, "question": "What now?", "piis": {text: {"type": kind, "relevance": "1"} for text, kind in piis.items()}}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    import_file(
        store,
        tmp_path / "rows.jsonl",
        "capid",
        rejects_path=tmp_path / "r",
        options=ReadOptions(skip_values=True, taxonomy=shipped_taxonomy()),
    )
    create_release(store, "one", test_size=0, seed=0)
    export_release(store, "one", name, tmp_path / "out")
    entries = json.loads((tmp_path / "out" / "release.json").read_text())["loss"]["entries"]
    assert [(entry["value"], entry["reason"]) for entry in entries] == [
        ("bisexual", "lost at import: stands only inside a longer word"),
        ("34F", "lost at import: is not in the context"),
        ("34", "lost at import: overlaps a longer mention, which was kept"),
    ]
