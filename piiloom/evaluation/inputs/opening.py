"""Open gold and prediction for one pass over both: ``open_pairs`` is what commands call."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from piiloom.corpus.formats.columns import ALL_FIELDS, FIELDS
from piiloom.corpus.releases.manifest import types_beside
from piiloom.evaluation.inputs.detecting import TAB, TABLE, checked_format, columns_of, find_format, is_array
from piiloom.evaluation.inputs.documents import Document, Needs, Pair
from piiloom.evaluation.inputs.entity_tables import COLUMNS, EntityTable, read_entity_table
from piiloom.evaluation.inputs.pairing import Side, pairs
from piiloom.evaluation.inputs.reading import ReadingOptions, count_document, read_documents, with_needed
from piiloom.evaluation.inputs.summary import InputsSummary, SideSummary
from piiloom.evaluation.inputs.tab_files import read_tab_predictions
from piiloom.evaluation.inputs.type_map import TypeMap, TypeNames, refuse_disjoint_types
from piiloom.evaluation.inputs.unplaced import Handling, Unplaced
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.locales import resolve_locale
from piiloom.taxonomy.own_types import OwnTypes, extended

# Formats that spell types in a way of their own, and files whose types are compared exactly as they are written.
_SPELLINGS = {"bio": "TAGS", "conll": "TAGS", "spacy": "TAGS", "brat": "brat", "presidio": "presidio"}
_AS_WRITTEN = frozenset({"capid", TABLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class InputOptions:
    """How to read both sides.

    ``needs``: what the scheme compares; where one side is a CAPID file, which names each value once, mentions as strings are the values
    of either side. ``gold_format``, ``found_format``: None is found out from the file. ``columns``: those of entity
    tables and of tables of records, by what they hold. ``type_map`` and ``types``: see ``type_map``. ``locale`` is for documents that
    name none. ``skip_values`` leaves gold values without a place out, which otherwise are errors. ``offsets``: a table must have start
    and end. ``types_matter``: mentions of the sides without a common type are an error, see ``refuse_disjoint_types``.

    Raises ``UsageError`` for an unknown locale.
    """

    needs: Needs
    gold_format: str | None = None
    found_format: str | None = None
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    type_map: TypeMap = field(default_factory=lambda: MappingProxyType({}))
    types: Collection[str] | None = None
    locale: str | None = None
    skip_values: bool = False
    offsets: bool = False
    types_matter: bool = True

    def __post_init__(self) -> None:
        if self.locale is not None:
            object.__setattr__(self, "locale", resolve_locale(self.locale))


def open_pairs(gold: Path, found: Path, options: InputOptions) -> tuple[Iterator[Pair], InputsSummary]:
    """Return the pairs of documents of *gold* and *found*, and a summary that is filled while they are iterated.

    Raises ``UsageError`` or ``DataError`` for files that cannot be opened or whose format is not known, now, and ``DataError`` (file,
    line, field) for what is wrong in them, while the pairs are iterated.
    """
    _check_columns(options.columns)
    given = ((gold, options.gold_format), (found, options.found_format))
    formats = [_format(path, named, options.columns) for path, named in given]
    columns = [
        columns_of(path, file_format, options.columns, stated=named is not None)
        for (path, named), file_format in zip(given, formats, strict=True)
    ]
    if set(options.columns).difference(COLUMNS) and not any(columns):
        where, remedy = "--columns", "Leave it out, or name the formats of the files"
        raise UsageError("neither file has columns of these names", where=where, remedy=remedy)
    if options.needs == "mentions" and "capid" in formats:
        options = replace(options, needs="values")
    summary = InputsSummary(gold=SideSummary(file=str(gold), format=formats[0]), found=SideSummary(file=str(found), format=formats[1]))
    taxonomy, respelled = extended(_own_types(gold, found)), _respelled(*formats)
    sides = [
        _Opened(gold, summary.gold, options, columns[0], taxonomy, is_gold=True, respelled=respelled),
        _Opened(found, summary.found, options, columns[1], taxonomy, is_gold=False, respelled=respelled),
    ]
    return _all_pairs(sides, summary, options), summary


class _Opened:
    """One side: how its types and values without a place are handled, and its documents."""

    def __init__(
        self,
        path: Path,
        summary: SideSummary,
        options: InputOptions,
        columns: Mapping[str, str],
        taxonomy: Taxonomy,
        *,
        is_gold: bool,
        respelled: bool,
    ) -> None:
        self._path = path
        self._columns = columns
        self._summary = summary
        self._options = options
        self._is_gold = is_gold
        handling: Handling = "leave out" if options.skip_values else "refuse"
        self.unplaced = Unplaced(handling if is_gold else "keep", summary)
        self.types = TypeNames(options.type_map, options.types, summary, taxonomy, of_taxonomy=respelled)

    def documents(self) -> Side:
        """Return the documents; a table is read as a whole."""
        options = self._options
        if self._summary.format == TAB and not is_array(self._path):
            return self._of_benchmark()
        if self._summary.format != TABLE:
            reading = ReadingOptions(format=self._summary.format, needs=options.needs, columns=self._columns, locale=options.locale)
            return read_documents(self._path, reading, self.types, self.unplaced, self._summary)
        table = read_entity_table(self._path, options.columns, self.types, self.unplaced, offsets=options.offsets)
        if self._is_gold and not table.documents:
            raise DataError("the table has no rows", where=str(self._path), remedy="A gold must have a mention, at least")
        documents = {name: with_needed(document, options.needs) for name, document in table.documents.items()}
        for document in documents.values():
            count_document(document, self._summary)
        return EntityTable(table.file, documents)

    def _of_benchmark(self) -> Iterator[Document]:
        if self._is_gold:
            raise DataError(
                "the file is not a JSON array of documents", where=str(self._path), remedy="Compare it with docs/schemes.md, tab"
            )
        for document in read_tab_predictions(self._path):
            named = ((one, self.types.of(one.entity_type)) for one in document.mentions)
            kept = tuple(replace(one, entity_type=name.name) for one, name in named if name is not None)
            whole = with_needed(replace(document, mentions=kept), self._options.needs)
            count_document(whole, self._summary)
            yield whole


def _all_pairs(sides: list[_Opened], summary: InputsSummary, options: InputOptions) -> Iterator[Pair]:
    gold, found = sides
    yield from pairs(gold.documents(), found.documents(), summary, (gold.unplaced, found.unplaced))
    used = gold.types.used_keys | found.types.used_keys
    summary.unused_map_keys = tuple(key for key in options.type_map if key not in used)
    if options.types_matter and options.types is None and options.needs != "values":
        refuse_disjoint_types(summary, gold.types.taxonomy)


def _own_types(*paths: Path) -> OwnTypes:
    """Return the own types of the exports that *paths* belong to; of two with one name the first."""
    by_name = {one.name: one for path in reversed(paths) for one in types_beside(path)}
    return tuple(by_name.values())


def _format(path: Path, given: str | None, columns: Mapping[str, str]) -> str:
    if not path.exists():
        raise DataError("there is no such file", where=str(path), remedy="Check the path")
    return find_format(path, columns) if given is None else checked_format(given)


def _respelled(gold: str, found: str) -> bool:
    """Whether both sides are read with the spellings of the taxonomy: if their formats spell one and the same type differently."""
    return not {gold, found} & _AS_WRITTEN and _SPELLINGS.get(gold) != _SPELLINGS.get(found)


def _check_columns(columns: Mapping[str, str]) -> None:
    for name in columns:
        if name not in COLUMNS and name not in ALL_FIELDS:
            remedy = f"Those of an entity table: {', '.join(COLUMNS)}; those of a table of records: {', '.join(FIELDS)}, spans.start …"
            raise UsageError(f"there is no field {name!r}", where="--columns", remedy=remedy)
