"""The folder for Hugging Face datasets: what is written comes back, labels have names, and ``load_dataset`` opens it offline."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record_strategies import records
from round_trips import composed_records, one_megabyte, real_records, written_again

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.columns import METADATA_KEY, dataset_info, features_metadata
from piiloom.corpus.formats.lossless import HuggingFaceFormat
from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.record import Record, Span
from piiloom.corpus.releases.exporting import export_release
from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.releases import keep_types
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.own_types import OwnSubtype, OwnType, OwnTypes, extended, only
from piiloom.taxonomy.value_patterns import ValueGenerator

HUGGINGFACE = HuggingFaceFormat()
LABEL = {"_type": "ClassLabel", "names": ["age", "name"]}


def own_type(name: str, *pairs: str) -> OwnType:
    value = OwnSubtype(name="value", definition="One.", examples=("a", "b"), form="noun", generator=ValueGenerator(kind="model"))
    return OwnType(name=name, definition="One.", subtypes=(value,), pairs=pairs)


PET, PLATE = own_type("pet", "plate"), own_type("plate", "health")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "train.parquet"


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(items=st.tuples(records("a"), records("b")))
def test_any_record_comes_back_equal(items: tuple[Record, ...], tmp_path: Path) -> None:
    assert written_again(HUGGINGFACE, tmp_path / "train.parquet", items) == list(items)


def with_pet() -> Record:
    return Record(id="a", context="Rex and I", spans=(Span(id="s1", start=0, end=3, entity_type="pet", relevance="low"),))


def test_labels_are_the_types_of_the_taxonomy_and_another_is_refused(file: Path) -> None:
    taxonomy = extended((PLATE, PET))
    assert list(taxonomy.types)[-3:] == ["appearance", "plate", "pet"]
    assert written_again(HUGGINGFACE, file, [with_pet()], taxonomy) == [with_pet()]
    (row,) = pq.read_table(file).to_pylist()
    assert (row["spans"][0]["type"], row["spans"][0]["relevance"]) == (16, 1)
    with pytest.raises(DataError, match=r"record a: a span has the type 'pet', which is not one of the types in force"):
        HUGGINGFACE.write([with_pet()], file, WriteOptions(taxonomy=shipped_taxonomy()))


def test_a_type_that_the_store_gets_later_changes_no_bytes_of_a_release(store: Store, tmp_path: Path) -> None:
    keep_types(store, (PLATE, PET))
    add_records(store, None, [(None, with_pet())])
    create_release(store, "one", test_size=0, seed=1)
    export_release(store, "one", HUGGINGFACE, tmp_path / "before")
    keep_types(store, (own_type("boat"),))
    report = export_release(store, "one", HUGGINGFACE, tmp_path / "after")
    assert [file.name for file in report.files] == ["train.parquet", "README.md", "croissant.json"]
    for name in ("train.parquet", "README.md", "release.json"):
        assert (tmp_path / "before" / name).read_bytes() == (tmp_path / "after" / name).read_bytes()
    labels = features_of(tmp_path / "after" / "train.parquet")["spans"]["feature"]["type"]["names"]
    assert labels[-2:] == ["appearance", "pet"]


def test_own_types_that_are_left_keep_no_pair_with_those_that_are_not() -> None:
    (pet,) = only((PLATE, PET), {"pet", "health"})
    assert (pet.name, pet.pairs) == ("pet", ())
    everything: OwnTypes = (PLATE, PET, replace(PET, name="boat", pairs="all"))
    assert only(everything, {"pet", "plate", "boat"}) == everything


def features_of(path: Path) -> Any:
    return json.loads(pq.read_schema(path).metadata[METADATA_KEY])["info"]["features"]


def test_card_and_schema_tell_the_same_features(file: Path) -> None:
    HUGGINGFACE.write([with_age()], file, WriteOptions(taxonomy=shipped_taxonomy()))
    about = {
        "name": "v1",
        "description": "d",
        "splits": {"train": {"records": 1}},
        "files": {"train.parquet": {"split": "train", "records": 1, "sha256": "0" * 64}},
    }
    assert HUGGINGFACE.write_extras(file.parent, about, shipped_taxonomy()) == ("README.md", "croissant.json")
    header = yaml.safe_load((file.parent / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert header["configs"][0]["data_files"] == [{"split": "train", "path": "train.parquet"}]
    told = {feature["name"]: feature for feature in header["dataset_info"]["features"]}
    schema = features_of(file)
    assert list(told) == list(schema) == pq.read_schema(file).names
    names = next(key for key in told["spans"]["list"] if key["name"] == "type")["dtype"]["class_label"]["names"]
    assert list(names.values()) == schema["spans"]["feature"]["type"]["names"] == list(shipped_taxonomy().types)
    assert list(names) == [str(number) for number in range(len(names))]
    assert header["dataset_info"]["splits"][0]["num_examples"] == 1


def with_age() -> Record:
    return Record(id="a", context="I am 34.", spans=(Span(id="s1", start=5, end=7, entity_type="age"),))


def test_a_label_out_of_range_is_refused_and_labels_of_columns_are_named_too(file: Path) -> None:
    span = {"start": 5, "end": 7, "text": "34", "type": 0}
    rows = [{"context": "I am 34.", "spans": [{**span, "type": kind}], "locale": 1} for kind in (0, 2, -1)]
    features = {"locale": {"_type": "ClassLabel", "names": ["en_US", "nl_NL"]}, "spans": {"_type": "Sequence", "feature": {"type": LABEL}}}
    metadata = {METADATA_KEY: json.dumps({"info": {"features": features}})}
    pq.write_table(pa.Table.from_pylist(rows).replace_schema_metadata(metadata), file)
    first, *refused = HUGGINGFACE.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
    assert isinstance(first, Record)
    assert (first.spans[0].entity_type, first.locale) == ("age", "nl_NL")
    assert [(row.line, row.reason) for row in refused if isinstance(row, RowReject)] == [
        (2, "spans[0].type: the class label 2 has no name"),
        (3, "spans[0].type: the class label -1 has no name"),
    ]


@pytest.mark.parametrize("metadata", [b"{", b"[]", b'{"info": {"features": {"spans": []}}}', b'{"info": {"features": {"spans": {}}}}'])
def test_metadata_that_was_changed_by_hand_is_as_none(file: Path, metadata: bytes) -> None:
    rows = [{"context": "I am 34.", "spans": [{"start": 5, "end": 7, "text": "34", "type": "age"}]}]
    pq.write_table(pa.Table.from_pylist(rows).replace_schema_metadata({METADATA_KEY: metadata}), file)
    (record,) = HUGGINGFACE.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
    assert isinstance(record, Record)


def test_a_folder_is_an_error_that_names_its_files(file: Path) -> None:
    HUGGINGFACE.write([with_age()], file, WriteOptions(taxonomy=shipped_taxonomy()))
    with pytest.raises(DataError, match=r"this is a folder.*there are: train\.parquet"):
        list(HUGGINGFACE.read(file.parent, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))


@pytest.fixture
def load_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """``datasets.load_dataset`` without a network, with a cache of its own."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    import datasets

    datasets.disable_progress_bars()
    datasets.logging.enable_propagation()  # so that its warnings are seen
    return lambda *names, **options: datasets.load_dataset(*names, cache_dir=str(tmp_path / "cache"), **options)


def as_rows(dataset: Any) -> list[dict[str, Any]]:
    """The rows of a dataset in the native shape, with names for labels and without keys that are null."""
    span = dataset.features["spans"].feature
    rows = []
    for row in dataset:
        for one in row["spans"]:
            one["type"] = span["type"].int2str(one["type"])
            one["relevance"] = None if one["relevance"] is None else span["relevance"].int2str(one["relevance"])
        spans = [{key: value for key, value in one.items() if value is not None or key == "relevance"} for one in row["spans"]]
        rows.append({**row, "spans": spans, "meta": json.loads(row["meta"])})
    return rows


@pytest.mark.long
def test_load_dataset_opens_a_release_offline_and_each_span_is_equal(
    store: Store, tmp_path: Path, load_dataset: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    items = [*real_records(), *composed_records(), one_megabyte(), with_age()]
    add_records(store, None, [(None, item) for item in items])
    create_release(store, "one", test_size=200, seed=1)
    out = tmp_path / "out"
    export_release(store, "one", HUGGINGFACE, out)
    loaded = load_dataset(str(out))
    assert caplog.messages == []
    assert sorted(loaded) == ["test", "train"]
    assert loaded["test"].num_rows == 200
    rows = {row["id"]: row for split in loaded.values() for row in as_rows(split)}
    withheld = {one["record"] for one in json.loads((out / "release.json").read_text(encoding="utf-8"))["withheld"]}
    assert rows == {item.id: row_of(item) for item in items if item.id not in withheld}
    alone = load_dataset("parquet", data_files=str(out / "test.parquet"))["train"]
    assert alone.features == loaded["test"].features
    again = tmp_path / "again.parquet"
    loaded["test"].to_parquet(str(again))
    direct = list(HUGGINGFACE.read(out / "test.parquet", ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
    assert list(HUGGINGFACE.read(again, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())) == direct


@pytest.mark.long
def test_features_are_those_that_datasets_makes_of_the_types(load_dataset: Callable[..., Any]) -> None:
    from datasets import Features

    types = [*shipped_taxonomy().types, "no", "1", "a: b", "'q'"]
    schema = json.loads(features_metadata(types)[METADATA_KEY])["info"]["features"]
    written = yaml.safe_load(yaml.safe_dump(dataset_info(types, {})["features"], allow_unicode=True))
    assert Features.from_dict(schema) == Features._from_yaml_list(written)
