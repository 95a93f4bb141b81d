"""Annotated documents: what evaluation compares, whatever files they come from.

Unlike records, they may hold overlapping mentions, types that no taxonomy knows, and values without a place in the text.

One side of an evaluation has counts of what was read, and names of types. A label map is a YAML file with a line for each type:
``PERSON: NAME_STUDENT`` renames, ``TITLE: null`` leaves out. It applies once, to both sides: the new name of a type is not mapped again.

Entity tables: CSV (TSV, if the suffix says so) or Parquet with a row a mention, and the columns ``document``, ``text`` and ``type``.

Columns ``start`` and ``end`` (code points, half-open) may say where it stands; columns of other names are named by ``--columns``. Texts
and types are taken exactly as they are: nothing is stripped or unescaped. Documents are told apart by their ids as texts, so that 3 in
Parquet is "3" in CSV. A table cannot list a document without mentions: what a table lacks is taken for an empty document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final, Literal, Protocol, TypeVar

from piiloom.corpus.formats.base import Json, quoted
from piiloom.corpus.formats.lossless import csv_header, csv_rows, parquet_columns, parquet_rows
from piiloom.corpus.formats.native_rows import RowFault
from piiloom.corpus.record import Relevance
from piiloom.foundation.errors import ConfigError, DataError
from piiloom.foundation.yaml_files import key_name, read_document
from piiloom.taxonomy.entity_types import Taxonomy, bare_spelling, shipped_taxonomy
from piiloom.taxonomy.label_maps import label_key, label_map, shipped_label_maps
from piiloom.taxonomy.own_types import UNTYPED

# What a file says a mention is; "none": it identifies nobody and need not be masked.
IdentifierKind = Literal["direct", "quasi", "none"]
# What a scheme compares: values as strings, each once; mentions as strings, as often as they are there; or mentions by their places.
Needs = Literal["values", "mentions", "places"]
NEEDS: tuple[Needs, ...] = ("places", "mentions", "values")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedMention:
    """One annotated value.

    ``start`` and ``end`` are code points, half-open; both are None if the file gives no place, or none that exists. ``text`` is the
    value as the file has it; if there is a place, it is what stands there. ``entity_type`` is None if the file states none.
    ``annotator`` is set where a file has several annotators, ``identifier`` where it says what kind of identifier a mention is,
    ``score`` (0 to 1) where a detector says how sure it is; ``detector`` is the name of that detector. ``written_relevance`` is the
    spelling of a CAPID file, stripped and in lower case: another one than 1 or 0 has a meaning to ``relevance``, but none to the scheme
    ``capid``.
    """

    text: str
    entity_type: str | None
    start: int | None = None
    end: int | None = None
    relevance: Relevance | None = None
    written_relevance: str | None = None
    subtype: str | None = None
    value_id: str | None = None
    subject: str | None = None
    annotator: str | None = None
    identifier: IdentifierKind | None = None
    score: float | None = None
    detector: str | None = None

    @property
    def place(self) -> tuple[int, int] | None:
        """The range [start, end), or None."""
        return None if self.start is None or self.end is None else (self.start, self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedDocument:
    """One text with its mentions, in the order of the file.

    ``id`` is None if the file has none, ``text`` if the file is a table of entities. ``where`` is the file and line it was read from.
    ``malformed`` counts entries that are no annotation (a model's invalid JSON); they are in no mention.
    """

    where: str
    id: str | None = None
    text: str | None = None
    question: str | None = None
    locale: str | None = None
    group_keys: tuple[str, ...] = ()
    mentions: tuple[AnnotatedMention, ...] = ()
    malformed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One document as it should be annotated, and as it was."""

    gold: AnnotatedDocument
    found: AnnotatedDocument


def distinct_values(mentions: Iterable[AnnotatedMention]) -> tuple[AnnotatedMention, ...]:
    """Return one mention of each value, in the order of the first mentions; those without a place come last, in their order.

    As in a CAPID file, which names each value once, it is the first highly relevant mention, or else the first with a relevance, or
    else the first. Blank values are left out.
    """
    by_value: dict[str, list[AnnotatedMention]] = {}
    for mention in sorted(mentions, key=lambda one: (one.start is None, one.start or 0)):
        by_value.setdefault(mention.text, []).append(mention)
    return tuple(
        next((one for relevance in ("high", "low") for one in same if one.relevance == relevance), same[0])
        for value, same in by_value.items()
        if value.strip()
    )


class Collector(Protocol):
    """Sees each pair once, in the order of the gold file; keeps no text unless that is its purpose."""

    def add(self, pair: Pair) -> None:
        """Take note of one pair."""
        ...


Pairing = Literal["id", "position"]
# What becomes of a value that has no place in its text, or not the stated one. In the gold it is an error, or left out with
# ``--skip-values``; in predictions it is kept as a mention without a place, which no scheme on offsets finds in the gold.
Handling = Literal["refuse", "leave out", "keep"]
TypeMap = Mapping[str, str | None]
# As many mentions of either side are hardly all wrong, unless they name types differently.
_ENOUGH = 20


@dataclass(slots=True, kw_only=True)
class SideSummary:
    """Counts of one side.

    ``malformed`` are entries that are no annotation; ``without_place`` mentions whose text has no place, or not the stated one;
    ``skipped`` gold values without a place that ``--skip-values`` left out. ``left_out_by_map`` and ``left_out_by_types`` are
    annotations of types that the map leaves out, or that are not among those asked for. ``absent`` are documents that only the other
    side has (see ``opening``). ``joined_texts`` are texts made of tokens, ``seams`` CAPID values that are marked inside a word.
    ``types`` counts mentions by type, as they are compared. ``left_out`` counts what the reader of the format does not read: further
    annotators, predictions, relations, other columns. ``relevances`` counts mentions of a CAPID file by the spelling of their
    relevance, where one that is not known is "other". ``stand_ins`` counts mentions by a rule that stands in for a model, by its name.
    ``rows_left_out`` are those of ``left_out`` that are whole rows.
    """

    file: str
    format: str
    unplaced: Handling = "keep"
    documents: int = 0
    mentions: int = 0
    malformed: int = 0
    without_type: int = 0
    without_place: int = 0
    skipped: int = 0
    left_out_by_map: int = 0
    left_out_by_types: int = 0
    absent: int = 0
    joined_texts: int = 0
    seams: int = 0
    rows_left_out: int = 0
    types: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    relevances: Counter[str] = field(default_factory=Counter)
    stand_ins: Counter[str] = field(default_factory=Counter)

    def keep(self, fault: str) -> bool:
        """Return whether to keep a value without a place, and count it; raises ``RowFault`` with *fault* if it is refused."""
        if self.unplaced == "refuse":
            raise RowFault(f"{fault}; --skip-values leaves such values of the gold out")
        self.skipped += self.unplaced == "leave out"
        self.without_place += self.unplaced == "keep"
        return self.unplaced == "keep"

    @property
    def untyped(self) -> bool:
        """Whether there are mentions and none of them states a type."""
        return self.mentions > 0 and not self.types

    def notes(self) -> list[str]:
        """Return what was left out or differs from the rule, with counts."""
        counts = {
            "malformed": self.malformed,
            "without a type": self.without_type,
            "not in the text": self.without_place,
            "skipped": self.skipped,
            "left out by the map": self.left_out_by_map,
            "of other types": self.left_out_by_types,
            "documents without a row": self.absent,
            "texts joined from tokens": self.joined_texts,
            "mentions at seams of words": self.seams,
        }
        told = [f"{what} {count:,}" for what, count in counts.items() if count]
        told += [f"by {name}, a rule in the place of a model, {count:,}" for name, count in sorted(self.stand_ins.items())]
        return told + [f"not read: {what} {count:,}" for what, count in sorted(self.left_out.items())]

    def to_json(self) -> Json:
        """The fields as JSON values, types sorted by name; stand-ins only if there are any."""
        told = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in {"unplaced", "rows_left_out", "stand_ins"}}
        told |= {name: dict(sorted(told.pop(name).items())) for name in ("left_out", "types", "relevances")}
        return told | ({"stand_ins": dict(sorted(self.stand_ins.items()))} if self.stand_ins else {})


@dataclass(slots=True, kw_only=True)
class InputsSummary:
    """Both sides; ``pairing`` says how documents were paired, ``unused_map_keys`` which keys of the map no file has."""

    gold: SideSummary
    found: SideSummary
    pairs: int = 0
    pairing: Pairing | None = None
    unused_map_keys: tuple[str, ...] = ()

    @property
    def types_only_in_gold(self) -> list[str]:
        """The types that only gold mentions have."""
        return sorted(self.gold.types.keys() - self.found.types.keys())

    @property
    def types_only_in_found(self) -> list[str]:
        """The types that only predicted mentions have."""
        return sorted(self.found.types.keys() - self.gold.types.keys())

    def to_json(self) -> Json:
        """The fields as JSON values."""
        return {
            "gold": self.gold.to_json(),
            "found": self.found.to_json(),
            "pairs": self.pairs,
            "pairing": self.pairing,
            "types_only_in_gold": self.types_only_in_gold,
            "types_only_in_found": self.types_only_in_found,
            "unused_map_keys": list(self.unused_map_keys),
        }


def read_type_map(name: str | Path) -> dict[str, str | None]:
    """Return the shipped label map *name*, without subtypes, or the map in the YAML file *name*, whose types are not restricted.

    Raises ``ConfigError`` (file, line, key) if a file is no map of texts to texts or null.
    """
    if str(name) in shipped_label_maps():
        return {label: target and target.partition("/")[0] for label, target in label_map(name, shipped_taxonomy()).items()}
    document = read_document(Path(name))
    if not isinstance(document.data, dict) or not document.data:
        raise ConfigError("is no map of types", where=document.where(), remedy="Write a line a type, such as: PERSON: NAME_STUDENT")
    found: dict[str, str | None] = {}
    for key, value in document.data.items():
        label = label_key(document, key)
        if value is not None and not (isinstance(value, str) and value):
            remedy = "Write a type (in quotes, if YAML reads it as something else), or null to leave such mentions out."
            raise ConfigError(f"{key_name([label])}: must be text or null", where=document.where([label]), remedy=remedy)
        found[label] = value
    return found


@dataclass(frozen=True, slots=True)
class TypeName:
    """The name of a type as it is compared; None if a mention has none."""

    name: str | None


class TypeNames:
    """The types of one side; counts what it leaves out in *summary*.

    ``of_taxonomy``: a type that differs from one of the taxonomy by case, blanks and punctuation only is spelled as there. The map has
    precedence: it may name either spelling.
    """

    def __init__(
        self, type_map: TypeMap, only: Collection[str] | None, summary: SideSummary, taxonomy: Taxonomy, *, of_taxonomy: bool = False
    ) -> None:
        self._map = type_map
        self._only, self.taxonomy = only, taxonomy
        self._summary = summary
        self._of_taxonomy = {bare_spelling(name): name for name in taxonomy.types} if of_taxonomy else {}
        self._names: dict[str, str | None] = {}
        self.used_keys: set[str] = set()

    def of(self, raw: str | None) -> TypeName | None:
        """Return the name for *raw*, a type as the file has it; None if its mentions are left out, each of which is counted."""
        name = raw
        if raw is not None:
            if raw not in self._names:
                self._names[raw] = self._renamed(raw)
            name = self._names[raw]
            if name is None:
                self._summary.left_out_by_map += 1
                return None
            if name == UNTYPED.name:
                name = None
        if self._only is not None and name not in self._only:
            self._summary.left_out_by_types += 1
            return None
        return TypeName(name)

    def _renamed(self, raw: str) -> str | None:
        spelled = self._of_taxonomy.get(bare_spelling(raw), raw)
        for key in (raw, spelled):
            if key in self._map:
                self.used_keys.add(key)
                return self._map[key]
        return spelled


def refuse_disjoint_types(summary: InputsSummary, taxonomy: Taxonomy) -> None:
    """Raise ``DataError``, naming the types of both sides, if they have none in common, so that they rather need a map.

    Not if either side has few mentions, or if all are types of *taxonomy*: then the prediction may just be wrong.
    """
    gold, found = summary.gold.types, summary.found.types
    few = min(gold.total(), found.total()) < _ENOUGH
    if few or gold.keys() & found.keys() or (gold.keys() | found.keys()) <= taxonomy.types.keys():
        return
    raise DataError(
        f"gold and prediction have no type in common: {_listed(gold)} in the gold, {_listed(found)} in the prediction",
        where=summary.found.file,
        remedy="Rename them with --label-map FILE (a YAML file with a line a type, such as PERSON: NAME)",
    )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name!r} {count:,}" for name, count in sorted(counts.items()))


COLUMNS: Final = ("document", "text", "type", "start", "end")
REQUIRED: Final = COLUMNS[:3]
_SHOWN: Final = 40
Converted = TypeVar("Converted", str, int)


def is_entity_table(header: Collection[str], columns: Mapping[str, str]) -> bool:
    """Whether a file with this header has all columns that a table needs."""
    return all(_column(header, name, columns) is not None for name in REQUIRED)


def table_header(path: Path) -> list[str]:
    """Return the names of the columns of *path*; raises ``DataError`` if it cannot be read."""
    return parquet_columns(path) if _is_parquet(path) else csv_header(path, csv_rows(path, _delimiter(path)))


def read_entity_table(
    path: Path, columns: Mapping[str, str], types: TypeNames, summary: SideSummary, *, offsets: bool
) -> dict[str, AnnotatedDocument]:
    """Return the documents of the whole table *path* by their ids; with *offsets*, start and end are required.

    Raises ``DataError`` (line, column) if the file, a column or a value is missing or unusable.
    """
    header = table_header(path)
    wanted = COLUMNS if offsets else REQUIRED
    found = {name: column for name in COLUMNS if (column := _column(header, name, columns)) is not None}
    missing = [columns.get(name, name) for name in wanted if name not in found]
    if missing:
        shown = ", ".join(map(repr, header[:_SHOWN])) + (" …" if len(header) > _SHOWN else "")
        without = " (the scheme compares places)" if not {"start", "end"}.isdisjoint(missing) else ""
        raise DataError(
            f"the table has no column {' and no column '.join(map(repr, missing))}{without}; there are: {shown or 'none'}",
            where=str(path),
            remedy="Name its columns: --columns document=…,text=…,type=… (and start=…,end=…)",
        )
    mentions: dict[str, list[AnnotatedMention]] = {}
    lines: dict[str, int] = {}
    for number, row in _rows(path, header):
        try:
            if isinstance(row, RowFault):
                raise row
            document, mention = _read(row, found, types, summary, offsets=offsets)
        except RowFault as fault:
            raise DataError(str(fault), where=f"{path}:{number}", remedy="Correct the row, or take it out") from fault
        lines.setdefault(document, number)
        mentions.setdefault(document, []).extend([] if mention is None else [mention])
    return {name: AnnotatedDocument(where=f"{path}:{lines[name]}", id=name, mentions=tuple(given)) for name, given in mentions.items()}


def _column(header: Collection[str], name: str, columns: Mapping[str, str]) -> str | None:
    # The name that piiloom expects serves, too: --columns may be meant for the other side.
    return next((column for column in (columns.get(name, name), name) if column in header), None)


def _is_parquet(path: Path) -> bool:
    return path.suffix == ".parquet"


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix == ".tsv" else ","


def _rows(path: Path, header: Sequence[str]) -> Iterator[tuple[int, Json | RowFault]]:
    if _is_parquet(path):
        yield from parquet_rows(path)
        return
    rows = csv_rows(path, _delimiter(path))
    csv_header(path, rows)
    for number, line in rows:
        if line.fault is not None or len(line.cells) != len(header):
            yield number, RowFault(line.fault or f"the row has {len(line.cells)} cells, the header {len(header)}")
        else:
            yield number, dict(zip(header, line.cells, strict=True))


def _read(
    row: Json, columns: Mapping[str, str], types: TypeNames, summary: SideSummary, *, offsets: bool
) -> tuple[str, AnnotatedMention | None]:
    """Return the document and the mention of a row, None if it is left out; raises ``RowFault`` if it is no mention.

    *columns*: the columns of the table by their content.
    """
    document = _cell(row, columns["document"], _as_name)
    text, raw = (_cell(row, columns[name], _as_text) for name in ("text", "type"))
    start, end = (_cell(row, columns.get(name), _as_number) for name in ("start", "end"))
    for name, value in (("document", document), ("text", text)):
        if not value:
            raise RowFault(f"{columns[name]}: is empty")
    named = types.of(raw or None)
    if named is None:
        return str(document), None
    fault = _fault(start, end, len(str(text))) if offsets or start is not None or end is not None else None
    if fault is not None:
        if not summary.keep(f"{quoted(str(text))} {fault}"):
            return str(document), None
        start = end = None
    return str(document), AnnotatedMention(text=str(text), entity_type=named.name, start=start, end=end)


def _cell(row: Json, column: str | None, convert: Callable[[object], Converted | None]) -> Converted | None:
    try:
        return None if column is None else convert(row.get(column))
    except ValueError as error:
        raise RowFault(f"{column}: {error}") from error


def _fault(start: int | None, end: int | None, length: int) -> str | None:
    if start is None or end is None:
        return "has no start, or no end"
    if start < 0 or end - start != length:
        return f"has the range [{start}, {end}), but {length} characters"
    return None


def _as_name(value: object) -> str | None:
    if isinstance(value, float) and value.is_integer():  # a column of integers that once had a gap
        value = int(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _as_text(value)


def _as_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise ValueError("must be text")


def _as_number(value: object) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer():  # as above; as text it ends in ".0"
        return int(value)
    try:
        return int(str(value).removesuffix(".0"))
    except ValueError as error:
        raise ValueError("must be a whole number") from error
