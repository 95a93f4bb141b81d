"""The Croissant 1.1 description of an exported dataset, with the fields of the RAI vocabulary 1.0.

Each split is a record set over its Parquet file, with a field for every column, down to the parts of each span; ``splits`` lists the
splits. Class labels are integers in the files; their names are record sets, too. The ``rai:`` fields hold the sentences of
``dataset_statements``. What Croissant only recommends and a release does not state is left out, as the date of publication: exports have no
clock.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.columns import class_labels
from piiloom.corpus.formats.dataset_card import DatasetFacts, Statements
from piiloom.taxonomy.entity_types import Taxonomy

CROISSANT: Final = "http://mlcommons.org/croissant/1.1"
RAI: Final = "http://mlcommons.org/croissant/RAI/1.0"
PARQUET: Final = "application/x-parquet"  # the type that mlcroissant reads; application/vnd.apache.parquet only validates
SPLITS: Final = "splits"

# The context that Croissant 1.1 prescribes, word for word; inline, so that nothing is fetched.
_CONTEXT: Final[Json] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_MEANINGS: Final = {
    "id": "The id of the record.",
    "locale": "Language and country of the text.",
    "context": "The text.",
    "question": "A question about the text, or null.",
    "spans": "The places that disclose personal information, in order and disjoint.",
    "spans/start": "First character, as a number of code points from the start of the text.",
    "spans/end": "The character behind the last one.",
    "spans/text": "The text from start to end.",
    "spans/type": "The kind of information.",
    "spans/relevance": "Whether it matters for answering the question, or null.",
    "spans/value_id": "Mentions of the same value share it.",
    "spans/subject": "The person that the value is about.",
    "meta": "How the record was planned and made, as JSON.",
}
_VERSION: Final = re.compile(r"\d+(?:\.\d+){0,2}")


def croissant_json(folder: Path, about: Json, taxonomy: Taxonomy) -> Json:
    """Return the content of ``croissant.json`` for the Parquet files of the splits in *folder*, which ``release.json`` (*about*) lists."""
    facts = DatasetFacts(about)
    told = Statements(facts, taxonomy)
    files = {split: folder / name for split, name in facts.files().items() if name.endswith(".parquet")}
    schemas = {split: import_module("pyarrow.parquet").read_schema(path) for split, path in files.items()}
    labels = class_labels(next(iter(schemas.values())).metadata) if schemas else []
    description: Json = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [CROISSANT, RAI],
        "name": facts.name,
        "description": told.content(),
        "license": facts.license,
        "version": _version(facts.version),
        "citeAs": told.citation(),
        "inLanguage": facts.languages(),
        "keywords": ["pii", "privacy"],
        # Of the RAI fields, the vocabulary takes one text for some and several for others.
        "rai:dataCollection": " ".join(told.collection()),
        "rai:dataCollectionType": facts.collection_types(),
        "rai:dataAnnotationProtocol": " ".join(told.annotation()),
        "rai:personalSensitiveInformation": told.personal_information(),
        "rai:dataUseCases": told.use_cases(),
        "rai:dataBiases": told.biases(),
        "rai:dataLimitations": told.limitations(),
        "rai:dataReleaseMaintenancePlan": told.maintenance(),
        "distribution": [_file(path) for path in files.values()],
        "recordSet": [
            *([_listing(SPLITS, "cr:Split", [{"name": split} for split in files])] if files else []),
            *(_labels(f"{one.column}/{one.key}" if one.key else one.column, one.names) for one in labels if one.names),
            *(_records(split, path.name, schemas[split]) for split, path in files.items()),
        ],
    }
    return {key: value for key, value in description.items() if value not in (None, "", [])}


def _version(told: str | None) -> str | None:
    """Return a version in three parts, as Croissant wants it ("1" is "1.0.0"); others as they are."""
    if told is None or not _VERSION.fullmatch(told):
        return told
    return told + ".0" * (2 - told.count("."))


def _file(path: Path) -> Json:
    with path.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": PARQUET,
        "sha256": sha256,
    }


def _records(split: str, file: str, schema: Any) -> Json:
    """Return the record set of one split: a field for each column, and the name of the split in each record."""
    fields = [
        _field(split, column.name, column.type, {"fileObject": {"@id": file}, "extract": {"column": column.name}}) for column in schema
    ]
    which: Json = {
        "@type": "cr:Field",
        "@id": f"{split}/split",
        "name": "split",
        "dataType": "sc:Text",
        "value": split,
        "references": {"field": {"@id": f"{SPLITS}/name"}},
    }
    return {"@type": "cr:RecordSet", "@id": split, "name": split, "field": [*fields, which]}


def _field(split: str, name: str, kind: Any, source: Json) -> Json:
    """Return the field of a column, or of a part of one; lists are repeated, and objects have sub-fields with a JSON path."""
    types = import_module("pyarrow").types
    field: Json = {"@type": "cr:Field", "@id": f"{split}/{name}", "name": name.rpartition("/")[2]}
    if name in _MEANINGS:
        field["description"] = _MEANINGS[name]
    if types.is_list(kind) or types.is_large_list(kind):
        field["repeated"] = True
        kind = kind.value_type
    if types.is_struct(kind):
        field["subField"] = [
            _field(split, f"{name}/{part.name}", part.type, {**source, "transform": {"jsonPath": part.name}}) for part in kind
        ]
        return field
    return {**field, "dataType": _data_type(kind), "source": source}


def _data_type(kind: Any) -> str:
    types = import_module("pyarrow").types
    if types.is_integer(kind):
        return "sc:Integer"
    if types.is_floating(kind):
        return "sc:Float"
    return "sc:Boolean" if types.is_boolean(kind) else "sc:Text"


def _labels(path: str, names: Sequence[str]) -> Json:
    """Return the names of a class label; the place of a name is the number in the files."""
    rows: list[Json] = [{"number": at, "name": name} for at, name in enumerate(names)]
    listing = _listing(f"{path.rpartition('/')[2]}_labels", "sc:Enumeration", rows)
    return {**listing, "description": f"The numbers in {path} and their names."}


def _listing(name: str, kind: str, rows: list[Json]) -> Json:
    """Return a record set whose records are in the description itself; its key is their first field."""
    types = {key: "sc:Integer" if isinstance(value, int) else "sc:Text" for key, value in rows[0].items()}
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "dataType": kind,
        "key": {"@id": f"{name}/{next(iter(types))}"},
        "field": [{"@type": "cr:Field", "@id": f"{name}/{key}", "name": key, "dataType": held} for key, held in types.items()],
        "data": [{f"{name}/{key}": value for key, value in row.items()} for row in rows],
    }
