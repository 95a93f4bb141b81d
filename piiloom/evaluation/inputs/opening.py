"""Open gold and prediction for one pass over both: ``open_pairs`` is what commands call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pydantic import field_validator

from piiloom.corpus.formats.columns import ALL_FIELDS, FIELDS, parse_columns
from piiloom.corpus.formats.registry import READABLE
from piiloom.corpus.releases.manifest import types_beside
from piiloom.evaluation.inputs.documents import AnnotatedDocument, Needs, Pair
from piiloom.evaluation.inputs.entity_tables import COLUMNS, EntityTable, read_entity_table
from piiloom.evaluation.inputs.pairing import Side, pairs
from piiloom.evaluation.inputs.reading import (
    TAB,
    TABLE,
    checked_format,
    columns_of,
    count_document,
    find_format,
    is_array,
    read_documents,
    read_tab_predictions,
    with_needed,
)
from piiloom.evaluation.inputs.sides import Handling, InputsSummary, SideSummary, TypeNames, read_type_map, refuse_disjoint_types
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.settings import Converted, OptionalWords, Settings, setting
from piiloom.taxonomy.locales import resolve_locale
from piiloom.taxonomy.own_types import OwnTypes, extended

READING: Final = "Reading"
# Formats that spell types in a way of their own, and files whose types are compared exactly as they are written.
_SPELLINGS = {"bio": "TAGS", "conll": "TAGS", "spacy": "TAGS", "brat": "brat", "presidio": "presidio"}
_AS_WRITTEN = frozenset({"capid", TABLE})


class PairSettings(Settings):
    """Settings of how gold and predictions are read. Raises ``UsageError`` for an unknown locale, and ``ConfigError`` for a bad map."""

    input_format: str | None = setting(
        None,
        f"Format of all files ({', '.join((*READABLE, TABLE))}); recognized by their rows when not given.",
        metavar="FORMAT",
        panel=READING,
    )
    gold_format: str | None = setting(None, "Format of GOLD, if it differs from that of the predictions.", metavar="FORMAT", panel=READING)
    predictions_format: str | None = setting(
        None, "Format of the predictions, if it differs from that of GOLD.", metavar="FORMAT", panel=READING
    )
    columns: Converted[dict[str, str], Mapping[str, str] | str | Sequence[str] | None] = setting(
        {},
        "Columns of a table by field: document, text, type, start, end of an entity table, or the fields of a table of records.",
        metavar="FIELD=COLUMN,…",
        panel=READING,
        kind=list[str],
    )
    label_map: Converted[dict[str, str | None], Mapping[str, str | None] | str | Path | None] = setting(
        {},
        "New names of types on both sides: a shipped label map, or a file with lines such as PERSON: NAME_STUDENT.",
        metavar="MAP|YAML",
        panel=READING,
        kind=str,
    )
    only_types: OptionalWords = setting(
        None,
        "Compare only these types (piiloom types list), on both sides, once renamed; case does not matter.",
        metavar="A,B,…",
        panel=READING,
        kind=str,
    )
    locale: str | None = setting(None, "Locale of documents that name none.", metavar="LOCALE", panel=READING)
    skip_values: bool = setting(
        False, "Leave out gold values that are not in the text, which otherwise are errors.", panel=READING, advanced=True
    )

    @field_validator("columns", mode="before")
    @classmethod
    def _parsed(cls, given: Any) -> Any:
        if given is None or isinstance(given, Mapping):
            return dict(given or {})
        return {field: column for text in ([given] if isinstance(given, str) else given) for field, column in parse_columns(text).items()}

    @field_validator("label_map", mode="before")
    @classmethod
    def _read(cls, given: Any) -> Any:
        return read_type_map(given) if isinstance(given, str | Path) else dict(given or {})

    @field_validator("only_types")
    @classmethod
    def _named(cls, types: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if types == ():
            raise UsageError("no type is named", where="--only-types", remedy="Write for example NAME,AGE")
        return types

    @field_validator("locale")
    @classmethod
    def _resolved(cls, locale: str | None) -> str | None:
        return None if locale is None else resolve_locale(locale)


def open_pairs(
    gold: Path, found: Path, settings: PairSettings, needs: Needs = "places", *, offsets: bool = False, types_matter: bool = True
) -> tuple[Iterator[Pair], InputsSummary]:
    """Return the pairs of documents of *gold* and *found*, and a summary that is filled while they are iterated.

    *needs*: the mentions that the scheme compares; next to a CAPID file, which names each value once, mentions as strings are values.
    *offsets*: a table must have start and end. *types_matter*: sides without a common type are an error (``refuse_disjoint_types``).

    Raises ``UsageError`` or ``DataError`` for files that cannot be opened or whose format is not known, now, and ``DataError`` (file,
    line, field) for what is wrong in them, while the pairs are iterated.
    """
    _check_columns(settings.columns)
    given = (
        (gold, settings.gold_format or settings.input_format),
        (found, settings.predictions_format or settings.input_format),
    )
    formats = [_format(path, named, settings.columns) for path, named in given]
    columns = [
        columns_of(path, file_format, settings.columns, stated=named is not None)
        for (path, named), file_format in zip(given, formats, strict=True)
    ]
    if set(settings.columns).difference(COLUMNS) and not any(columns):
        where, remedy = "--columns", "Leave it out, or name the formats of the files"
        raise UsageError("neither file has columns of these names", where=where, remedy=remedy)
    if needs == "mentions" and "capid" in formats:
        needs = "values"
    unplaced: Handling = "leave out" if settings.skip_values else "refuse"
    summary = InputsSummary(
        gold=SideSummary(file=str(gold), format=formats[0], unplaced=unplaced), found=SideSummary(file=str(found), format=formats[1])
    )
    taxonomy, respelled = extended(_own_types(gold, found)), _respelled(*formats)
    types = [
        TypeNames(settings.label_map, settings.only_types, side, taxonomy, of_taxonomy=respelled) for side in (summary.gold, summary.found)
    ]

    def read() -> Iterator[Pair]:
        gold_side, found_side = (
            _documents(*side, settings, needs, offsets=offsets)
            for side in zip((gold, found), (summary.gold, summary.found), columns, types, strict=True)
        )
        yield from pairs(gold_side, found_side, summary)
        used = types[0].used_keys | types[1].used_keys
        summary.unused_map_keys = tuple(key for key in settings.label_map if key not in used)
        if types_matter and settings.only_types is None and needs != "values":
            refuse_disjoint_types(summary, taxonomy)

    return read(), summary


def _documents(
    path: Path, side: SideSummary, columns: Mapping[str, str], types: TypeNames, settings: PairSettings, needs: Needs, *, offsets: bool
) -> Side:
    """Return the documents of one side; a table is read as a whole."""
    is_gold = side.unplaced != "keep"
    if side.format == TAB and not is_array(path):
        if is_gold:
            raise DataError("the file is not a JSON array of documents", where=str(path), remedy="Compare it with docs/schemes.md, tab")
        return _of_benchmark(path, side, types, needs)
    if side.format != TABLE:
        return read_documents(path, needs, columns, settings.locale, types, side)
    table = read_entity_table(path, settings.columns, types, side, offsets=offsets)
    if is_gold and not table.documents:
        raise DataError("the table has no rows", where=str(path), remedy="A gold must have a mention, at least")
    documents = {name: with_needed(document, needs) for name, document in table.documents.items()}
    for document in documents.values():
        count_document(document, side)
    return EntityTable(table.file, documents)


def _of_benchmark(path: Path, side: SideSummary, types: TypeNames, needs: Needs) -> Iterator[AnnotatedDocument]:
    for document in read_tab_predictions(path):
        named = ((one, types.of(one.entity_type)) for one in document.mentions)
        kept = tuple(replace(one, entity_type=name.name) for one, name in named if name is not None)
        whole = with_needed(replace(document, mentions=kept), needs)
        count_document(whole, side)
        yield whole


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
