"""The records that a detector is trained on, and what a trained folder says of itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.releases import ReleaseRow, insert_release
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.training.training_data import base_facts, read_input
from piiloom.detection.training.training_options import TrainingInput
from piiloom.foundation.errors import DataError, ReleaseError, UsageError
from piiloom.tagging.model_folder import CARD, About, read_about, unknown_types, write_about
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.own_types_file import read_types_file
from tests.detection.training_rows import row, write_jsonl
from tests.taxonomy.own_types_example import written


def test_validation_is_taken_off_by_whole_groups(tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "train.jsonl", [row(n, group=f"text:{n // 3}") for n in range(30)])
    data = read_input(TrainingInput(train=(file,), validation_size=6), relevance=True)
    kept, held = ({record.contrast_group for record in part} for part in (data.train, data.validation))
    assert (len(data.train), len(data.validation), data.test) == (24, 6, ())
    assert not kept & held
    assert data.types == ("occupation", "health")
    assert data.about["counts"] == {"train": 24, "validation": 6}


@pytest.mark.parametrize("relevances", [("high", "high"), (None, None)])
def test_relevance_that_is_wanted_must_be_there(tmp_path: Path, relevances: tuple[str | None, ...]) -> None:
    file = write_jsonl(tmp_path / "train.jsonl", [row(n, relevances=relevances) for n in range(4)])
    with pytest.raises(DataError, match="relevance"):
        read_input(TrainingInput(train=(file,), validation_size=0), relevance=True)
    assert len(read_input(TrainingInput(train=(file,), validation_size=0)).train) == 4


def test_a_relevance_without_a_question_counts_for_nothing(tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "train.jsonl", [row(n, question=None) for n in range(4)])
    with pytest.raises(DataError, match="Take --no-relevance"):
        read_input(TrainingInput(train=(file,), validation_size=0), relevance=True, without_relevance="Take --no-relevance")


def test_the_digest_is_that_of_what_is_trained_on(tmp_path: Path) -> None:
    rows = [row(n) for n in range(8)]
    first = write_jsonl(tmp_path / "a.jsonl", rows)
    assert read_input(TrainingInput(train=(first,))).digest == read_input(TrainingInput(train=(first,))).digest
    rows[3]["spans"][0]["relevance"] = "low"
    other = write_jsonl(tmp_path / "b.jsonl", rows)
    assert read_input(TrainingInput(train=(first,))).digest != read_input(TrainingInput(train=(other,))).digest


def test_capid_files_are_known_by_their_rows(tmp_path: Path) -> None:
    lines = [
        {"context": f"I am {n} and a baker.", "question": "Q", "piis": {"baker": {"type": "occupation", "relevance": "1"}}}
        for n in range(4)
    ]
    lines[1]["piis"]["florist"] = {"type": "occupation", "relevance": "0"}
    file = write_jsonl(tmp_path / "capid.jsonl", lines)
    with pytest.raises(DataError, match=r"capid\.jsonl:2: .*--skip-values"):
        read_input(TrainingInput(train=(file,), validation_size=0))
    data = read_input(TrainingInput(train=(file,), validation_size=0, skip_values=True))
    assert [len(record.spans) for record in data.train] == [1, 1, 1, 1]
    assert data.notes == ("capid.jsonl: 1 value without an exact place left out",)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "s.duckdb") as opened:
        records = [
            Record(id=f"r{n}", context=f"I am a baker {n}", question="Q?", spans=(Span(id="s", start=7, end=12, entity_type="occupation"),))
            for n in range(4)
        ]
        add_records(opened, None, [(None, record) for record in records])
        members = [("r0", 0, "train"), ("r1", 0, "train"), ("r2", 0, "validation"), ("r3", 0, "test")]
        insert_release(opened, ReleaseRow(name="v1", seed=1, test_size="1"), members)
        insert_release(opened, ReleaseRow(name="folds", seed=1, test_size="0"), [("r0", 0, "fold1"), ("r1", 0, "fold2")])
        yield opened


def test_a_release_gives_its_splits(store: Store) -> None:
    data = read_input(TrainingInput(release="v1"), opening=lambda _: nullcontext(store))
    assert [[record.id for record in part] for part in (data.train, data.validation, data.test)] == [["r0", "r1"], ["r2"], ["r3"]]
    assert data.about["release"] == "v1"


def test_folds_are_trained_on_by_name(store: Store) -> None:
    with pytest.raises(UsageError, match="fold1, fold2"):
        read_input(TrainingInput(release="folds"), opening=lambda _: nullcontext(store))
    data = read_input(TrainingInput(release="folds", split=("fold2",), validation_size=0), opening=lambda _: nullcontext(store))
    assert [record.id for record in data.train] == ["r1"]


def test_an_unknown_release_names_those_there_are(store: Store) -> None:
    with pytest.raises(ReleaseError, match="Known releases: v1, folds"):
        read_input(TrainingInput(release="v2"), opening=lambda _: nullcontext(store))


@pytest.mark.parametrize("release", [None, "v1"])
def test_a_release_or_files(tmp_path: Path, release: str | None) -> None:
    files = (tmp_path / "x.jsonl",) if release else ()
    with pytest.raises(UsageError, match="--release, --train"):
        read_input(TrainingInput(release=release, train=files))


def test_nothing_to_train_on(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        read_input(TrainingInput(train=(tmp_path / "gone.jsonl",)))
    with pytest.raises(DataError, match="no records to train on"):
        read_input(TrainingInput(train=(write_jsonl(tmp_path / "empty.jsonl", []),)))
    bare = write_jsonl(tmp_path / "bare.jsonl", [row(1) | {"spans": []}])
    with pytest.raises(DataError, match="no record to train on has a span"):
        read_input(TrainingInput(train=(bare,), validation_size=0))
    alone = write_jsonl(tmp_path / "alone.jsonl", [row(1)])
    with pytest.raises(UsageError, match="--validation-size"):
        read_input(TrainingInput(train=(alone,)))


# ---- the card

_JSON = st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.text(max_size=5), st.none()), max_size=3)


@given(data=_JSON, settings=_JSON, figures=_JSON, types=st.lists(st.text(min_size=1, max_size=8), max_size=4))
def test_a_card_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, data: object, settings: object, figures: object, types: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("card")
    about = About(family="encoder", types=tuple(types), data=data, settings=settings, figures=figures)  # type: ignore[arg-type]
    write_about(folder, about)
    assert read_about(folder, "encoder") == about


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        read_about(tmp_path / "gone", "encoder")
    with pytest.raises(UsageError, match="no trained folder"):
        read_about(tmp_path, "encoder")
    write_about(tmp_path, About(family="spacy", types=("name",)))
    with pytest.raises(UsageError, match="--detector spacy"):
        read_about(tmp_path, "encoder")
    with pytest.raises(DataError, match=r"model\.bin is missing"):
        read_about(tmp_path, "spacy", needs=("model.bin",))


@pytest.mark.parametrize(
    "spoiled",
    ["", "[]", "{", '{"schema": 1}', '{"schema": 1, "family": 3, "types": []}', '{"schema": "1", "types": 4, "family": "encoder"}'],
)
def test_a_damaged_card_is_told(tmp_path: Path, spoiled: str) -> None:
    (tmp_path / CARD).write_text(spoiled)
    with pytest.raises(DataError, match="damaged"):
        read_about(tmp_path, "encoder")


def test_a_card_of_a_newer_piiloom_is_told(tmp_path: Path) -> None:
    write_about(tmp_path, About(family="encoder", types=("name",)))
    row = json.loads((tmp_path / CARD).read_text())
    (tmp_path / CARD).write_text(json.dumps(row | {"schema": 2}))
    with pytest.raises(DataError, match="newer piiloom"):
        read_about(tmp_path, "encoder")


def test_a_base_needs_configuration_and_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        base_facts(tmp_path / "gone")
    with pytest.raises(UsageError, match=r"no config\.json"):
        base_facts(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="no tokenizer"):
        base_facts(tmp_path)
    (tmp_path / "vocab.txt").write_text("a")
    assert base_facts(tmp_path)["name"] == tmp_path.name


def test_types_that_nobody_defines() -> None:
    assert unknown_types(["name", "vehicle"], (), taxonomy=shipped_taxonomy()) == ["vehicle"]


def test_an_adapter_brings_its_own_types_along(tmp_path: Path) -> None:
    own = read_types_file(written(tmp_path))
    write_about(tmp_path, About(family="lora", types=("pet",), own_types=own[1:2]))
    model = {"provider": "local", "replies": tmp_path / "s.duckdb", "model": str(tmp_path / "base"), "adapter": tmp_path}
    assert DetectorSettings(detector="capid", **model).own_types == own[1:2]
    both = DetectorSettings(detector="capid", types=[tmp_path / "mine.yaml"], **model)
    assert [one.name for one in both.own_types] == [one.name for one in own]
    assert DetectorSettings(types=[tmp_path / "mine.yaml"]).own_types == own, "patterns find own types as well"
