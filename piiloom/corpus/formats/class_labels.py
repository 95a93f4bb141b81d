"""The columns of our tables as Hugging Face ``datasets`` describes them, and the class labels of any table that it wrote.

``datasets`` keeps its features as JSON in the metadata of a Parquet schema, under the key ``huggingface``, in ``dataset_info.json``, and as
YAML at the head of the card (``README.md``). A class label is an integer in the rows, and its names are in the features.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.native_rows import RowFault

METADATA_KEY = b"huggingface"
_HEAD = re.compile(r"---\n(.*?)\n---", re.DOTALL)
RELEVANCE = ("high", "low")
TEXT_COLUMNS = ("id", "locale", "context", "question")
# Key of a span → its type; "type" and "relevance" are class labels.
SPAN_KEYS = {"start": "int32", "end": "int32", "text": "string", "type": "", "relevance": ""} | dict.fromkeys(
    ("id", "subtype", "value_id", "subject"), "string"
)


def features_metadata(types: Sequence[str]) -> dict[bytes, bytes]:
    """Return the metadata of a Parquet schema from which ``datasets`` takes the features."""
    span = {key: _value(dtype) for key, dtype in SPAN_KEYS.items()} | {
        key: {"names": list(names), "_type": "ClassLabel"} for key, names in _labels(types).items()
    }
    features = {name: _value("string") for name in TEXT_COLUMNS} | {"spans": {"feature": span, "_type": "List"}, "meta": _value("string")}
    return {METADATA_KEY: json.dumps({"info": {"features": features}}, ensure_ascii=False).encode("utf-8")}


def dataset_info(types: Sequence[str], sizes: Mapping[str, tuple[int, int]]) -> Json:
    """Return the value of ``dataset_info`` in a dataset card; *sizes* are the numbers of records and of bytes by split."""
    labels = {key: {"class_label": {"names": {str(at): name for at, name in enumerate(names)}}} for key, names in _labels(types).items()}
    span = [{"name": key, "dtype": labels.get(key, dtype)} for key, dtype in SPAN_KEYS.items()]
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
        if self.key is not None and isinstance(held, dict):  # an object of lists
            ClassLabel(self.key, None, self.names).name_in(held)
            return
        if self.key is None:
            row[self.column] = [self.name(one, self.column) for one in held] if isinstance(held, list) else self.name(held, self.column)
            return
        for at, part in enumerate(held if isinstance(held, list) else []):
            if isinstance(part, dict) and self.key in part:
                part[self.key] = self.name(part[self.key], f"{self.column}[{at}].{self.key}")

    def name(self, number: object, field: str) -> object:
        """Return the name of *number*, or what it is if it is no number; raises ``RowFault`` if a number has no name."""
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


def class_labels_beside(path: Path) -> list[ClassLabel]:
    """Return the class labels that ``dataset_info.json`` or the card of a data set describes, beside *path* or in the folder above.

    A column whose names differ between the configurations of a data set is left out.
    """
    found: dict[tuple[str, str | None], ClassLabel | None] = {}
    for folder in (path.parent, path.parent.parent):
        for described in _descriptions(folder):
            for label in described:
                place = (label.column, label.key)
                found[place] = label if found.setdefault(place, label) == label else None
        if found:
            break
    return [label for label in found.values() if label is not None]


def _descriptions(folder: Path) -> Iterator[list[ClassLabel]]:
    """Yield the class labels of each description of a data set in *folder*; files that are none are passed over."""
    for file in (folder / "dataset_info.json", folder / "README.md"):
        try:
            text = file.read_text(encoding="utf-8")
            if file.suffix == ".json":
                features = json.loads(text)["features"]
                yield [label for column, feature in features.items() for label in _found(column, feature)]
            else:
                held: Any = yaml.load(_HEAD.match(text)[1], Loader=yaml.BaseLoader)["dataset_info"]  # type: ignore[index] # noqa: S506 - texts only; no head is an error like others
                for info in held if isinstance(held, list) else [held]:
                    yield [label for feature in info["features"] for label in _in_card(feature)]
        except (OSError, KeyError, ValueError, TypeError, AttributeError, yaml.YAMLError):
            continue


def _found(column: str, feature: Any) -> Iterator[ClassLabel]:
    inner = (feature or [{}])[0] if isinstance(feature, list) else feature.get("feature", feature)  # of List, LargeList and Sequence
    if inner.get("_type") == "ClassLabel":
        yield ClassLabel(column, None, tuple(inner["names"]))
    if "_type" not in inner:  # a list of objects, or an object of lists
        yield from (ClassLabel(column, key, label.names) for key, held in inner.items() for label in _found(key, held) if label.key is None)


def _in_card(feature: Any) -> Iterator[ClassLabel]:
    """Yield the class labels of a feature in the YAML of a card: of the column, of its list, or of the objects in it."""
    held = feature.get("list", feature.get("sequence", feature.get("struct")))
    for one in (feature.get("dtype"), held):
        if isinstance(one, dict) and "class_label" in one:
            yield ClassLabel(feature["name"], None, _card_names(one))
    for part in held if isinstance(held, list) else ():
        yield from (ClassLabel(feature["name"], part["name"], label.names) for label in _in_card(part) if label.key is None)


def _card_names(dtype: Any) -> tuple[str, ...]:
    names = dtype["class_label"]["names"]
    return tuple(str(name) for _, name in sorted(names.items(), key=lambda one: int(one[0]))) if isinstance(names, dict) else tuple(names)


def _labels(types: Sequence[str]) -> dict[str, Sequence[str]]:
    return {"type": types, "relevance": RELEVANCE}


def _value(dtype: str) -> Json:
    return {"dtype": dtype, "_type": "Value"}
