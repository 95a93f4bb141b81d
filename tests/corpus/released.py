"""What ``release.json`` says of a small release, and its splits as Parquet files in the columns of the Hugging Face export."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.record import Record
from piiloom.corpus.releases.manifest import SplitCounts

TYPES = ("age", "health", "name", "occupation")
RELEVANCE = ("high", "low")
SPAN = [("start", pa.int32()), ("end", pa.int32()), ("text", pa.string()), ("type", pa.int64()), ("relevance", pa.int64())]
SPAN += [(name, pa.string()) for name in ("id", "subtype", "value_id", "subject")]
SPAN_KEYS = tuple(name for name, _ in SPAN)
TEXTS = ("id", "locale", "context", "question")
FEATURES: Json = {
    "features": [
        *({"name": name, "dtype": "string"} for name in TEXTS),
        {
            "name": "spans",
            "list": [
                {"name": "start", "dtype": "int32"},
                {"name": "end", "dtype": "int32"},
                {"name": "text", "dtype": "string"},
                {"name": "type", "dtype": {"class_label": {"names": {str(at): name for at, name in enumerate(TYPES)}}}},
                {"name": "relevance", "dtype": {"class_label": {"names": {str(at): name for at, name in enumerate(RELEVANCE)}}}},
                *({"name": name, "dtype": "string"} for name in ("id", "subtype", "value_id", "subject")),
            ],
        },
        {"name": "meta", "dtype": "string"},
    ]
}


def about_of(splits: Mapping[str, Sequence[Record]], **changes: object) -> Json:
    """What ``release.json`` says of *splits*, in the form of an earlier version, with *changes*."""
    counts = {name: SplitCounts() for name in splits}
    for name, records in splits.items():
        assert list(counts[name].counting(records)) == list(records)
    files = {f"{name}.parquet": {"split": name, "records": len(records), "sha256": ""} for name, records in splits.items()}
    about: Json = {
        "schema": 1,
        "name": "v1",
        "piiloom": "0.1.0",
        "seed": 7,
        "splits": {name: count.to_json() for name, count in counts.items()},
        "files": files,
        "withheld": [],
        "loss": {"fields": [], "reasons": {}, "entries": []},
    }
    return about | changes


def rows_of(records: Sequence[Record]) -> list[dict[str, Any]]:
    """The rows of *records* as the file holds them: class labels are integers, absent values None."""
    rows = []
    for record in records:
        row: dict[str, Any] = row_of(record)
        spans = [{key: span.get(key) for key in SPAN_KEYS} for span in row["spans"]]
        for span in spans:
            span["type"] = TYPES.index(span["type"])
            span["relevance"] = None if span["relevance"] is None else RELEVANCE.index(span["relevance"])
        rows.append({**{key: row[key] for key in TEXTS}, "spans": spans, "meta": json.dumps(row["meta"], ensure_ascii=False)})
    return rows


def write_parquet(folder: Path, splits: Mapping[str, Sequence[Record]]) -> None:
    """Write ``<split>.parquet`` of each split."""
    label = {name: {"names": list(names), "_type": "ClassLabel"} for name, names in (("type", TYPES), ("relevance", RELEVANCE))}
    features = {"spans": {"feature": label, "_type": "List"}, "id": {"dtype": "string", "_type": "Value"}}
    columns = [(name, pa.string()) for name in TEXTS]
    schema = pa.schema([*columns, ("spans", pa.list_(pa.struct(SPAN))), ("meta", pa.string())])
    schema = schema.with_metadata({b"huggingface": json.dumps({"info": {"features": features}}).encode()})
    for name, records in splits.items():
        pq.write_table(pa.Table.from_pylist(rows_of(records), schema), folder / f"{name}.parquet")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
