"""croissant.json: mlcroissant finds no fault in it and reads the records, spans included, as they were written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from released import RELEVANCE, SPAN_KEYS, TEXTS, TYPES, about_of, rows_of, sha256_of, write_parquet

from piiloom.corpus.formats.croissant import CROISSANT, RAI, croissant_json
from piiloom.corpus.record import Record, SourceReference, Span
from piiloom.taxonomy.entity_types import shipped_taxonomy

# What mlcroissant calls of rdflib and pandas.
with_mlcroissant = pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated", "ignore:The inplace keyword")
NASTY = 'Ann 👩‍🚀 (34)\r\nשלום e\u0301 “x” \u2028 \\ " end'


def spans(*places: tuple[int, int, str, str | None]) -> tuple[Span, ...]:
    return tuple(
        Span(id=f"s{n}", start=start, end=end, entity_type=kind, relevance=relevance, value_id=f"v{n}", subject=None if n else "self")  # type: ignore[arg-type]
        for n, (start, end, kind, relevance) in enumerate(places)
    )


SPLITS = {
    "train": [
        Record(id="a", context=NASTY, question="Why?", spans=spans((0, 3, "name", "low"), (9, 11, "age", "high"), (14, 18, "name", None))),
        Record(id="b", context="nothing here", locale="pt_BR"),
        Record(id="c", context="asthma", spans=spans((0, 6, "health", "high"))),
    ],
    "test": [Record(id="d", context="nurse", locale="sv_SE", spans=spans((0, 5, "occupation", "low")))],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_parquet(tmp_path, SPLITS)
    return tmp_path


def test_files_are_told_with_hash_and_size(folder: Path) -> None:
    told = croissant_json(folder, about_of(SPLITS), taxonomy=shipped_taxonomy())["distribution"]
    assert isinstance(told, list)
    for one, name in zip(told, ("train.parquet", "test.parquet"), strict=True):
        path = folder / name
        assert (one["@id"], one["contentUrl"], one["encodingFormat"]) == (name, name, "application/x-parquet")
        assert (one["sha256"], one["contentSize"]) == (sha256_of(path), f"{path.stat().st_size} B")


def test_fields_reach_the_parts_of_the_spans(folder: Path) -> None:
    told: Any = croissant_json(folder, about_of(SPLITS), taxonomy=shipped_taxonomy())
    assert told["conformsTo"] == [CROISSANT, RAI]
    sets = {one["@id"]: one for one in told["recordSet"]}
    assert list(sets) == ["splits", "type_labels", "relevance_labels", "train", "test"]
    fields = {field["name"]: field for field in sets["train"]["field"]}
    assert list(fields) == [*TEXTS, "spans", "meta", "split"]
    assert (fields["spans"]["repeated"], fields["split"]["value"]) == (True, "train")
    parts = fields["spans"]["subField"]
    assert [part["name"] for part in parts] == list(SPAN_KEYS)
    assert [part["source"]["transform"]["jsonPath"] for part in parts] == list(SPAN_KEYS)
    assert [part["dataType"] for part in parts][:4] == ["sc:Integer", "sc:Integer", "sc:Text", "sc:Integer"]
    assert sets["splits"]["data"] == [{"splits/name": "train"}, {"splits/name": "test"}]
    assert [row["type_labels/name"] for row in sets["type_labels"]["data"]] == list(TYPES)
    assert [row["relevance_labels/number"] for row in sets["relevance_labels"]["data"]] == [0, 1]


def test_what_is_not_stated_is_left_out_and_nothing_depends_on_time(folder: Path) -> None:
    bare: Any = croissant_json(folder, about_of(SPLITS), taxonomy=shipped_taxonomy())
    assert not {"license", "version", "datePublished"} & set(bare)
    full: Any = croissant_json(folder, about_of(SPLITS, license="CC-BY-4.0", version="2"), taxonomy=shipped_taxonomy())
    assert (full["license"], full["version"]) == ("CC-BY-4.0", "2.0.0")
    assert json.dumps(full) == json.dumps(
        croissant_json(folder, about_of(SPLITS, license="CC-BY-4.0", version="2"), taxonomy=shipped_taxonomy())
    )


def test_the_responsible_fields_say_what_the_records_tell(folder: Path) -> None:
    imported = {"train": [replace(record, source=SourceReference(file="x.jsonl")) for record in SPLITS["train"]], "test": SPLITS["test"]}
    told: Any = croissant_json(folder, about_of(imported), taxonomy=shipped_taxonomy())
    assert told["rai:dataCollectionType"] == ["Secondary Data analysis"]
    assert told["rai:dataCollection"].startswith("3 records (75%) were imported.")
    assert any("whether the people in them are real is not stated" in text for text in told["rai:personalSensitiveInformation"])
    assert any("pt_BR (1)" in text for text in told["rai:dataLimitations"])
    assert "rai:dataAnnotationProtocol" not in told
    judged = about_of(SPLITS, judged=[{"kind": "relevance", "judged": 10, "disagree": 1, "records": 1}])
    assert "disagreed with the label of 1 (10%)" in str(
        croissant_json(folder, judged, taxonomy=shipped_taxonomy())["rai:dataAnnotationProtocol"]
    )


def test_all_its_rai_keys_are_of_the_vocabulary(folder: Path) -> None:
    # The names of version 1.0 that are used here; mlcroissant lets any others pass unchecked.
    known = "dataCollection dataCollectionType dataAnnotationProtocol personalSensitiveInformation dataUseCases dataBiases dataLimitations"
    told = croissant_json(folder, about_of(SPLITS, statuses={"validated": 4}), taxonomy=shipped_taxonomy())
    used = {key.removeprefix("rai:") for key in told if key.startswith("rai:")}
    assert used <= {*known.split(), "dataReleaseMaintenancePlan"}
    assert len(used) >= 7


def of_mlcroissant(path: Path) -> Any:
    mlcroissant = pytest.importorskip("mlcroissant")
    return mlcroissant.Dataset(str(path))


def decoded(value: object) -> object:
    """Values as mlcroissant gives them, texts as text and names without the path of their field."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, dict):
        return {key.rpartition("/")[2]: decoded(held) for key, held in value.items()}
    return [decoded(one) for one in value] if isinstance(value, list) else value


@pytest.fixture
def described(folder: Path) -> Callable[..., Path]:
    def write(**changes: object) -> Path:
        path = folder / "croissant.json"
        path.write_text(
            json.dumps(croissant_json(folder, about_of(SPLITS, **changes), taxonomy=shipped_taxonomy()), ensure_ascii=False),
            encoding="utf-8",
        )
        return path

    return write


@pytest.mark.long
@with_mlcroissant
def test_mlcroissant_reads_the_records_as_they_were_written(described: Callable[..., Path]) -> None:
    dataset = of_mlcroissant(described(license="CC-BY-4.0", version="1.0.0"))
    issues = dataset.metadata.ctx.issues
    assert issues.errors == set()
    (only,) = issues.warnings  # it wants a date; exports have no clock
    assert re.search(r"datePublished", only)
    for split, records in SPLITS.items():
        read = [decoded(row) for row in dataset.records(split)]
        assert read == [{**row, "split": split} for row in rows_of(records)]
    assert [decoded(row) for row in dataset.records("splits")] == [{"name": "train"}, {"name": "test"}]
    names = [decoded(row) for row in dataset.records("relevance_labels")]
    assert names == [{"number": at, "name": name} for at, name in enumerate(RELEVANCE)]


@pytest.mark.long
@with_mlcroissant
@pytest.mark.parametrize("name", ["a b", "</script>", 'x"y', "ü", "{{"])
def test_mlcroissant_accepts_any_name_and_licence(described: Callable[..., Path], name: str) -> None:
    dataset = of_mlcroissant(described(name=name, license=name, version=name))
    assert dataset.metadata.ctx.issues.errors == set()
    assert len(list(dataset.records("test"))) == 1


@pytest.mark.long
@with_mlcroissant
def test_a_changed_file_is_found_when_it_is_read(described: Callable[..., Path], folder: Path) -> None:
    path = described()
    write_parquet(folder, {"test": SPLITS["train"]})
    with pytest.raises(Exception, match=r"(?i)hash|generation"):
        list(of_mlcroissant(path).records("test"))
