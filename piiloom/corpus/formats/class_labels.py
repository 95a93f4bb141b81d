"""The columns of our tables as Hugging Face ``datasets`` describes them, and the class labels of any table that it wrote.

``datasets`` keeps its features as JSON in the metadata of a Parquet schema, under the key ``huggingface``. A class label is an integer
there, and its names are in the features.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.json_rows import RowFault
from piiloom.taxonomy.entity_types import load_taxonomy

METADATA_KEY = b"huggingface"
RELEVANCE = ("high", "low")
TEXT_COLUMNS = ("id", "locale", "context", "question")
# Key of a span → its type; "type" and "relevance" are class labels.
_SPAN_KEYS = {"start": "int32", "end": "int32", "text": "string", "type": "", "relevance": ""} | dict.fromkeys(
    ("id", "subtype", "value_id", "subject"), "string"
)


def type_names() -> list[str]:
    """Return the names of the class label ``type``: the types in force in their order, those of the user last."""
    return list(load_taxonomy().types)


def features_metadata(types: Sequence[str]) -> dict[bytes, bytes]:
    """Return the metadata of a Parquet schema from which ``datasets`` takes the features."""
    span = {key: _value(dtype) for key, dtype in _SPAN_KEYS.items()} | {
        key: {"names": list(names), "_type": "ClassLabel"} for key, names in _labels(types).items()
    }
    features = {name: _value("string") for name in TEXT_COLUMNS} | {"spans": {"feature": span, "_type": "List"}, "meta": _value("string")}
    return {METADATA_KEY: json.dumps({"info": {"features": features}}, ensure_ascii=False).encode("utf-8")}


def dataset_info(types: Sequence[str], sizes: Mapping[str, tuple[int, int]]) -> Json:
    """Return the value of ``dataset_info`` in a dataset card; *sizes* are the numbers of records and of bytes by split."""
    labels = {key: {"class_label": {"names": {str(at): name for at, name in enumerate(names)}}} for key, names in _labels(types).items()}
    span = [{"name": key, "dtype": labels.get(key, dtype)} for key, dtype in _SPAN_KEYS.items()]
    texts: list[Json] = [{"name": name, "dtype": "string"} for name in TEXT_COLUMNS]
    return {
        "features": [*texts, {"name": "spans", "list": span}, {"name": "meta", "dtype": "string"}],
        "splits": [{"name": name, "num_bytes": size, "num_examples": records} for name, (records, size) in sizes.items()],
    }


@dataclass(frozen=True, slots=True)
class ClassLabel:
    """A class label of a table: the column, the key in its objects (None: the column itself), and the names by number."""

    column: str
    key: str | None
    names: tuple[str, ...]

    def name_in(self, row: Json) -> None:
        """Replace the numbers in *row* by names; raises ``RowFault`` if one has none."""
        held = row.get(self.column)
        if self.key is None:
            row[self.column] = self._name(held, self.column)
            return
        for at, part in enumerate(held if isinstance(held, list) else []):
            if isinstance(part, dict) and self.key in part:
                part[self.key] = self._name(part[self.key], f"{self.column}[{at}].{self.key}")

    def _name(self, number: object, field: str) -> object:
        if not isinstance(number, int):
            return number
        if not 0 <= number < len(self.names):
            raise RowFault(f"{field}: the class label {number} has no name")
        return self.names[number]


def class_labels(metadata: Mapping[bytes, bytes] | None) -> list[ClassLabel]:
    """Return the class labels that the metadata of a Parquet schema describes, of columns and of objects in lists."""
    try:
        features: Any = json.loads((metadata or {})[METADATA_KEY])["info"]["features"]
        return [label for column, feature in features.items() for label in _found(column, feature)]
    except (KeyError, ValueError, TypeError, AttributeError):  # not from datasets, or changed by hand: integers stay integers
        return []


def _found(column: str, feature: Any) -> Iterator[ClassLabel]:
    if feature["_type"] == "ClassLabel":
        yield ClassLabel(column, None, tuple(feature["names"]))
    inner = feature.get("feature")  # of List, LargeList and Sequence
    if isinstance(inner, dict) and "_type" not in inner:
        for key, held in inner.items():
            if held["_type"] == "ClassLabel":
                yield ClassLabel(column, key, tuple(held["names"]))


def _labels(types: Sequence[str]) -> dict[str, Sequence[str]]:
    return {"type": types, "relevance": RELEVANCE}


def _value(dtype: str) -> Json:
    return {"dtype": dtype, "_type": "Value"}
