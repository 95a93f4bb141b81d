"""Which columns of a table, or keys of a JSON object, hold the fields of a record, and how they become a native row.

Without ``ReadOptions.columns`` the columns have the names that piiloom writes, or those of another tool (``shape_of``): a text with
spans, as doccano, Prodigy and spaCy write it, or tokens with tags, as Hugging Face ``datasets`` has them. With it, the named fields are
read, and the spans or tags of such a shape:

- a record's fields are ``context``, ``question``, ``spans``, ``id`` and ``locale``, or ``tokens`` and ``tags`` in the place of spans;
- ``spans`` is a list of objects or of ``[start, end, label]``, an object of equally long lists, or a text that holds one of these as
  JSON or as a Python literal;
- ``spans.start``, ``spans.end``, ``spans.type`` … name keys of these objects; a key that is not named has its own name, or one that
  other tools give it;
- an object without ``text`` gets the text of its range;
- a dotted name reaches into objects, unless a column has that very name.

A row whose annotator did not accept it (Prodigy's ``answer``) is refused. Numbers of class labels get their names from the description
of a Hugging Face data set beside the file (``class_labels_beside``); without names they are an error.

Hugging Face ``datasets`` keeps its features as JSON in the metadata of a Parquet schema, under the key ``huggingface``, in
``dataset_info.json``, and as YAML at the head of the card (``README.md``). A class label is an integer in the rows, and its names are in
the features.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import yaml

from piiloom.corpus.formats.base import Json, ReadableFormat, ReadOptions, ReadTally, RowReject, quoted
from piiloom.corpus.formats.native_rows import Row, RowFault, RowLeftOut, parse_value, read_rows
from piiloom.corpus.formats.row_reading import Made, MakeRow
from piiloom.corpus.formats.token_labels import token_row
from piiloom.foundation.errors import DataError, UsageError

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


TOKEN_FIELDS: Final = ("context", "question", "id", "locale", "tokens", "tags")
FIELDS: Final = ("context", "question", "spans", "id", "locale", "tokens", "tags")
_SPANS: Final = "spans."
ALL_FIELDS: Final = (*FIELDS, *(_SPANS + key for key in SPAN_KEYS))
# The names that other tools give to the columns, and to the keys of a span; of several the first is read.
_TEXTS: Final = ("full_text", "text", "content", "sentence", "data")
_SPAN_LISTS: Final = ("spans", "entities", "label", "labels", "annotations", "annotation", "ents")
_TOKENS: Final = ("tokens", "words", "tokenized_text", "tokenised_text")
_TAGS: Final = ("ner_tags", "labels", "tags", "bio_labels", "ner", "ner_labels", "entity_tags")
_STARTS: Final = ("start", "start_offset", "start_char", "start_position", "startOffset", "begin")
_ENDS: Final = ("end", "end_offset", "end_char", "end_position", "endOffset")
_ALIASES: Final = {"start": _STARTS[1:], "end": _ENDS[1:], "type": ("label", "entity_type", "entity_group", "entity", "tag", "labels")}
_IN_ORDER: Final = ("start", "end", "type", "text")  # of a span that is a list
_WITHOUT_COMMAS: Final = re.compile(r"""\s*\[\s*('[^']*'|"[^"]*"|[\d.]+)\s+['"\d]""")  # as numpy prints a list
_WRITTEN_LIST: Final = re.compile(r"\s*(?:\[\s*[\[({\]]|\{)")
_REFUSED: Final = ("reject", "ignore")  # answers of Prodigy
_PRODIGY: Final = {"answer", "_input_hash"}  # keys of its rows, which have no spans where nothing was marked …
_CHOICE: Final = {"options", "accept", "label", "relations"}  # … and of those of other tasks than marking
_MOST_SHOWN: Final = 40
MISSING: Final = object()
_REMEDY: Final = (
    f"Write context=COLUMN,spans=COLUMN,spans.type=KEY …; the fields: {', '.join(FIELDS)}; the keys of spans: {', '.join(SPAN_KEYS)}"
)


def check_columns(file_format: ReadableFormat, columns: Iterable[str]) -> None:
    """Raise ``UsageError`` if *file_format* does not read one of the fields *columns* from a column of any name."""
    taken = file_format.column_fields
    for field in columns:
        _check_field(field)
        if field not in taken:
            fault = f"the format {file_format.name!r} reads the field {field!r} from its own keys only"
            remedy = (
                f"It reads from columns of any name: {', '.join(taken)}" if taken else "Leave --columns out, or name another --input-format"
            )
            raise UsageError(fault, where="--columns", remedy=remedy)


class Columns:
    """Makes native rows of the rows of one file; raises ``UsageError`` if ``ReadOptions.columns`` names a field that there is not.

    *tokens*: all rows have tokens and tags.
    """

    def __init__(self, path: Path, options: ReadOptions, tally: ReadTally, *, tokens: bool = False) -> None:
        self._path = path
        self._tally = tally
        self._tokens = tokens
        self.named = dict(options.columns)
        if self.named:
            for field in self.named:
                _check_field(field)
            if not {"context", "tokens", "tags"} & self.named.keys():
                raise UsageError("the column of the context is not named", where="--columns", remedy=_REMEDY)
            if any(field.startswith(_SPANS) for field in self.named):
                self.named.setdefault("spans", "spans")
        self._fields = {field: name for field, name in self.named.items() if not field.startswith(_SPANS)}
        self._keys = {key: self.named.get(_SPANS + key, key) for key in SPAN_KEYS}
        self._unseen = set(self._fields.values())
        self._known: dict[str, None] = {}

    def check_header(self, names: Iterable[str]) -> None:
        """Raise ``DataError``, with the columns that there are, unless all that are to be read are among *names*."""
        self._known = dict.fromkeys(names)
        wanted = list(self._fields.values())
        if not wanted and "context" not in self._known and has_shape(self._known):
            self._unseen = {"context"}  # unless a row shows that shape
        elif not wanted:
            wanted = ["context", "spans"]
        for name in wanted:
            if name not in self._known and name.partition(".")[0] not in self._known:
                raise self._no_column(name)

    def read(
        self, rows: Iterable[tuple[int, Row]], parse: Callable[[Row], Json], make: MakeRow[Made], shown: Callable[[Row], str] = str
    ) -> Iterator[Made | RowReject]:
        """Yield what *make* returns for each of *rows*, of which *parse* returns the columns, or a reject; see ``read_rows``."""
        yield from read_rows(rows, lambda number, row: make(number, self.native(parse(row))), self._tally, shown=shown)
        if self._tally.rows and self._unseen:
            raise self._no_column(min(self._unseen))

    def native(self, row: Json) -> Json:
        """Return *row* in the native shape; raises ``RowFault`` if it lacks the context or its spans cannot be understood."""
        if not self.named and not self._tokens:
            fields = self._shape(row)
            if not fields:
                return _own(row)
        else:
            fields = self._chosen(row)
        if len(self._known) < _MOST_SHOWN:
            self._known |= dict.fromkeys(row)
        found = {field: reached(row, name) for field, name in fields.items()}
        self._unseen -= {name for field, name in fields.items() if found[field] is not MISSING}
        for field in [field for field, value in found.items() if value is MISSING]:
            if field in {"context", "spans", "tokens", "tags"}:
                raise RowFault(f"{field}: the row has no {fields[field]!r}")
            del found[field]
        used = {name if name in row else name.partition(".")[0] for name in fields.values()}
        if "answer" in row and "answer" not in used and row["answer"] in _REFUSED:
            raise RowLeftOut(f"answer: the annotator did not accept the row: {quoted(str(row['answer']))}")
        rest = {key: value for key, value in row.items() if key not in used and (key, value) != ("answer", "accept")}
        if isinstance(found.get("id"), int) and not isinstance(found["id"], bool):
            found["id"] = str(found["id"])
        if self._tokens or "tags" in fields:
            return self._of_tokens(found, fields.get("tags", "labels"), rest)
        self._tally.ignored_fields.update(key for key, value in rest.items() if value not in (None, "", [], {}))
        context = found["context"] = "" if found["context"] is None else found["context"]
        spans = _span_list(found["spans"]) if "spans" in found else []
        found["spans"] = [self._span(span, at, context, fields["spans"]) for at, span in enumerate(spans)]
        return found

    def _shape(self, row: Json) -> dict[str, str]:
        try:
            fields = {} if "context" in row else shape_of(row)
        except RowFault:
            self._unseen.clear()  # the columns are there
            raise
        if fields:
            self._unseen.clear()
        return fields

    def _chosen(self, row: Json) -> dict[str, str]:
        """Return the named columns by field, with those of a known shape for the tokens and tags, or the spans, if they are not named."""
        fields = dict(self._fields)
        if "spans" in fields:
            return fields
        shape = shape_of(row)
        if self._tokens or "tags" in {*fields, *shape}:
            # ``labels`` in our own rows goes before any other column of tags.
            return {**({"context": shape["context"]} if "context" in shape else {}), **_tokens_in(row), **fields}
        return {**({"spans": key} if (key := _span_key(row)) is not None else {}), **fields}

    def _of_tokens(self, found: Json, column: str, rest: Json) -> Json:
        """Return the native row of tokens and tags; *column* has the tags."""
        renamed = {"context": "full_text", "tags": "labels"}
        content = {renamed.get(field, field): _listed(value) if field in {"tokens", "tags"} else value for field, value in found.items()}
        tags = content.get("labels")
        if isinstance(tags, list) and any(_is_number(tag) for tag in tags):
            content["labels"] = [self._label(tag, column, None) for tag in tags]
        if "full_text" not in content and "id" in rest:  # such ids count the rows of a split
            self._tally.ignored_fields["id"] += 1
            del rest["id"]
        self._tally.ignored_fields.update(key for key in rest if key in content)
        return token_row({**rest, **content}, self._tally)

    def _span(self, span: object, at: int, context: object, column: str) -> Json:
        if isinstance(span, list | tuple):
            if len(span) not in (3, 4):
                raise RowFault(f"spans[{at}]: neither an object nor [start, end, label]")
            span = dict(zip(_IN_ORDER, span, strict=False))
        if not isinstance(span, dict):
            raise RowFault(f"spans[{at}]: not an object")
        found = {key: value for key, name in self._keys.items() if (value := reached(span, name)) is not MISSING}
        names = dict(self._keys)
        for key, aliases in _ALIASES.items():
            alias = next((one for one in aliases if one in span), None)
            if key not in found and alias is not None and _SPANS + key not in self.named:
                found[key] = span[alias]
                names[key] = alias
        if isinstance(found.get("type"), list) and len(found["type"]) == 1:  # Label Studio in CSV
            found["type"] = found["type"][0]
        if _is_number(found.get("type")):
            found["type"] = self._label(found["type"], column, names["type"])
        if "text" not in found and _SPANS + "text" not in self.named:
            start, end = found.get("start"), found.get("end")
            if isinstance(context, str) and isinstance(start, int) and isinstance(end, int) and start >= 0:
                found["text"] = context[start:end]
        return found

    def _label(self, tag: Any, column: str, key: str | None) -> Any:
        """Return *tag*, or its name if it is the number of a class label; raises ``DataError`` if there are no names."""
        if not _is_number(tag):
            return tag
        label = next((one for one in self._class_labels if one.column == column and one.key in {key, None}), None)
        if label is None:
            fault = f"the column {column!r} has numbers of class labels, and nothing names them"
            remedy = (
                "Export names in their place, or put the data set's dataset_info.json or README.md beside the file: its features have "
                "the names (with datasets, dataset.info.write_to_directory(FOLDER) writes the former)"
            )
            raise DataError(fault, where=self._path.name, remedy=remedy)
        return label.name(tag, column)

    @cached_property
    def _class_labels(self) -> list[ClassLabel]:
        return class_labels_beside(self._path)

    def _no_column(self, name: str) -> DataError:
        known = [repr(known) for known in self._known]
        shown = ", ".join(known[:_MOST_SHOWN]) + (" …" if len(known) > _MOST_SHOWN else "")
        remedy = "Name the columns of the fields: --columns context=…,spans=…"
        return DataError(f"there is no column {name!r}; there are: {shown or 'none'}", where=self._path.name, remedy=remedy)


def parse_columns(text: str) -> dict[str, str]:
    """Parse ``"context=text,question=q"`` into names of columns by field; raises ``UsageError`` for anything else."""
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, column = (piece.strip() for piece in part.partition("="))
        if not (name and equals and column) or name in found:
            raise UsageError(f"not a column: {part.strip()!r}", where="--columns", remedy="Write for example context=text,question=q")
        found[name] = column
    return found


def shape_of(row: Json) -> dict[str, str]:
    """Return the keys of a row that another tool wrote, by field; none if it has neither a text with spans nor tokens with tags.

    Raises ``RowFault`` for lists that numpy printed.
    """
    text = _first(row, _TEXTS, lambda value: isinstance(value, str))
    tokens = _tokens_in(row)
    if len(tokens) > 1:
        return {**({"context": text} if text is not None else {}), **tokens}
    spans = _span_key(row)
    if text is not None and spans is None and _PRODIGY & row.keys() and not {*_CHOICE, *_SPAN_LISTS} & row.keys():
        return {"context": text}
    return {"context": text, "spans": spans} if text is not None and spans is not None else {}


def _tokens_in(row: Json) -> dict[str, str]:
    found = {"tokens": _first(row, _TOKENS, _has_texts), "tags": _first(row, _TAGS, _has_tags)}
    return {field: key for field, key in found.items() if key is not None}


def _span_key(row: Json) -> str | None:
    return _first(row, _SPAN_LISTS, _looks_like_spans)


def has_shape(names: Mapping[str, object]) -> bool:
    """Whether columns of these names can be what ``shape_of`` returns."""
    parts = ((_TEXTS, _SPAN_LISTS), (_TOKENS, _TAGS))
    return any(all(any(name in names for name in known) for known in needed) for needed in parts)


def _first(row: Json, names: Sequence[str], fits: Callable[[object], bool]) -> str | None:
    return next((name for name in names if name in row and fits(row[name])), None)


def _has_texts(value: object) -> bool:
    listed = _listed(value)
    return isinstance(listed, list) and all(isinstance(one, str) for one in listed)


def _has_tags(value: object) -> bool:
    listed = _listed(value)
    return isinstance(listed, list) and all(isinstance(one, str) or _is_number(one) for one in listed)


def _listed(value: object) -> object:
    """Return *value*, or the list in it, if it is a text that holds one."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            return _parsed(value)
        except RowFault:
            if _WITHOUT_COMMAS.match(value):
                raise
            return value
    return value


def _looks_like_spans(value: object) -> bool:
    if isinstance(value, str):
        return _WRITTEN_LIST.match(value) is not None
    if isinstance(value, dict):
        return any(key in value for key in _STARTS) and all(isinstance(part, list) for part in value.values())
    return isinstance(value, list) and all(map(_is_span, value))


def _is_span(value: object) -> bool:
    if isinstance(value, dict):
        return any(key in value for key in _STARTS) and any(key in value for key in _ENDS)
    return isinstance(value, list | tuple) and len(value) in (3, 4) and _is_number(value[0]) and _is_number(value[1])


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_field(field: str) -> None:
    if field not in ALL_FIELDS:
        raise UsageError(f"there is no field {field!r}", where="--columns", remedy=_REMEDY)


def _own(row: Json) -> Json:
    """Return a row with the columns that piiloom writes; ``spans`` and ``meta`` may be JSON texts."""
    found = {key: parse_value(value) if key in {"spans", "meta"} and isinstance(value, str) else value for key, value in row.items()}
    if found.get("meta", MISSING) is None:
        del found["meta"]
    return found


def reached(row: Json, name: str) -> Any:
    """Return the value of the key *name*, or of the keys that it names one inside the other; ``MISSING`` if there is none."""
    if name in row:
        return row[name]
    value: Any = row
    for key in name.split("."):
        if not isinstance(value, dict) or key not in value:
            return MISSING
        value = value[key]
    return value


def _span_list(held: Any) -> list[Any]:
    value = _parsed(held) if isinstance(held, str) else held
    if isinstance(value, dict) and value and all(isinstance(part, list) for part in value.values()):
        if len({len(part) for part in value.values()}) > 1:
            raise RowFault("spans: an object of lists that are not equally long")
        return [dict(zip(value, parts, strict=True)) for parts in zip(*value.values(), strict=True)]
    if isinstance(value, list | tuple):
        return list(value)
    raise RowFault("spans: neither a list of objects nor a text that holds one")


def _parsed(text: str) -> Any:
    """Return the JSON value in *text*, or the Python literal that tables made with pandas often hold; nothing is executed."""
    try:
        return parse_value(text)
    except RowFault as fault:
        if _WITHOUT_COMMAS.match(text):
            raise RowFault("a list without commas, as numpy prints it; write the table as JSON lines or Parquet") from fault
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # escapes that Python does not know
                return ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise RowFault(f"spans: {fault}") from fault
