"""Open gold and prediction for one pass over both (``open_pairs`` is what commands call), and pair their documents in its order.

If the first documents of both sides have ids, documents are paired by them, in whatever order they come: in equal order nothing but one
document is held. Otherwise they are paired by position. Pairs must have the same text and, if both state one, the same question.
Of the prediction, as many documents may have no partner as rows of the gold were left out. An entity table pairs by id, too, and a
document that only one side has is empty on the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Final

from pydantic import field_validator

from piiloom.corpus.formats.base import quoted
from piiloom.corpus.formats.columns import ALL_FIELDS, FIELDS, parse_columns
from piiloom.corpus.formats.native_rows import RowFault
from piiloom.corpus.formats.registry import READABLE
from piiloom.corpus.releases.manifest import types_beside
from piiloom.evaluation.inputs.documents import (
    COLUMNS,
    AnnotatedDocument,
    AnnotatedMention,
    Handling,
    InputsSummary,
    Needs,
    Pair,
    SideSummary,
    TypeNames,
    read_entity_table,
    read_type_map,
    refuse_disjoint_types,
)
from piiloom.evaluation.inputs.reading import (
    TAB,
    TABLE,
    checked_format,
    columns_of,
    find_format,
    is_array,
    read_documents,
    read_tab_predictions,
    taken,
)
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.settings import Converted, OptionalWords, Settings, setting
from piiloom.taxonomy.locales import resolve_locale
from piiloom.taxonomy.own_types import extended

Side = Iterator[AnnotatedDocument] | dict[str, AnnotatedDocument]  # the documents of an entity table by their ids
_SPARE = "documents of rows that the gold leaves out"
_SAME_DOCUMENTS = "Gold and prediction must hold the same documents"
READING: Final = "Reading"
# Formats that spell types in a way of their own, and files whose types are compared exactly as they are written.
_SPELLINGS = {"bio": "TAGS", "conll": "TAGS", "spacy": "TAGS", "brat": "brat", "presidio": "presidio"}
_AS_WRITTEN = frozenset({"capid", TABLE})


def pairs(gold: Side, found: Side, summary: InputsSummary) -> Iterator[Pair]:
    """Yield the pairs, and fill *summary* (pairing, pairs, absent).

    Raises ``DataError``, naming the first document and both places, if the sides do not match.
    """
    for pair in _paired(gold, found, summary):
        _check_same(pair)
        summary.pairs += 1
        one, other = pair.gold, pair.found
        if one.text is None and other.text is not None:
            one = _in_text(one, other.text, summary.gold)
        elif other.text is None and one.text is not None:
            other = _in_text(other, one.text, summary.found)
        yield Pair(gold=one, found=other)


def _paired(gold: Side, found: Side, summary: InputsSummary) -> Iterator[Pair]:
    if isinstance(found, dict):
        return _with_table(gold, found, summary, flipped=False)
    if isinstance(gold, dict):
        return _with_table(found, gold, summary, flipped=True)
    first_gold, first_found = next(gold), next(found)  # reading raises if there is none
    gold, found = chain([first_gold], gold), chain([first_found], found)
    if first_gold.id is None or first_found.id is None:
        summary.pairing = "position"
        return _by_position(gold, found, summary)
    summary.pairing = "id"
    return _by_ids(_unique(gold), _unique(found), summary)


def _by_position(gold: Iterator[AnnotatedDocument], found: Iterator[AnnotatedDocument], summary: InputsSummary) -> Iterator[Pair]:
    for wanted in gold:
        given = next(found, None)
        while given is not None and None not in (wanted.text, given.text) and wanted.text != given.text and _is_spare(summary):
            given = next(found, None)
        if given is None:
            counts = f"{summary.gold.documents + sum(1 for _ in gold):,} and {summary.found.documents:,}"
            raise _different(f"they hold different numbers of documents: {counts}; the first without a partner is {wanted.where}", summary)
        yield Pair(gold=wanted, found=given)
    given = next((one for one in found if not _is_spare(summary)), None)
    if given is not None:
        counts = f"{summary.gold.documents:,} and {summary.found.documents + sum(1 for _ in found):,}"
        raise _different(f"they hold different numbers of documents: {counts}; the first without a partner is {given.where}", summary)


def _by_ids(
    gold: Iterator[tuple[str, AnnotatedDocument]], found: Iterator[tuple[str, AnnotatedDocument]], summary: InputsSummary
) -> Iterator[Pair]:
    waiting = dict[str, AnnotatedDocument]()
    for name, wanted in gold:
        while name not in waiting:
            other, given = next(found, ("", None))
            if given is None:
                raise _different(f"the document {name!r} ({wanted.where}) is not in the prediction", summary)
            waiting[other] = given
        yield Pair(gold=wanted, found=waiting.pop(name))
    left = next((one for one in chain(waiting.items(), found) if not _is_spare(summary)), None)
    if left is not None:
        raise _different(f"the document {left[0]!r} ({left[1].where}) is not in the gold", summary)


def _is_spare(summary: InputsSummary) -> bool:
    """Return whether one more document of the prediction may have no partner, and count it: as many as rows of the gold were left out."""
    if summary.found.left_out[_SPARE] == summary.gold.rows_left_out:
        return False
    summary.found.left_out[_SPARE] += 1
    return True


def _unique(documents: Iterator[AnnotatedDocument]) -> Iterator[tuple[str, AnnotatedDocument]]:
    """Yield (id, document); raises ``DataError`` if a document has no id, or that of an earlier one."""
    seen: dict[str, str] = {}
    for document in documents:
        if document.id is None:
            raise DataError("the document has no id, but the first one has", where=document.where, remedy="Give all documents ids, or none")
        if document.id in seen:
            remedy = "Give each document an id of its own"
            raise DataError(f"the id {document.id!r} is also that of {seen[document.id]}", where=document.where, remedy=remedy)
        seen[document.id] = document.where
        yield document.id, document


def _with_table(led: Side, table: dict[str, AnnotatedDocument], summary: InputsSummary, *, flipped: bool) -> Iterator[Pair]:
    """Pair *table* with the documents of the other side, in the order of those; *flipped*: the table is the gold."""
    summary.pairing = "id"
    led_summary, table_summary = (summary.found, summary.gold) if flipped else (summary.gold, summary.found)
    left = dict(table)
    first: AnnotatedDocument | None = None
    for name, document in led.items() if isinstance(led, dict) else _unique(_with_ids(led)):
        first = first or document
        other = left.pop(name, None) or _absent(document, table_summary)
        yield Pair(gold=other, found=document) if flipped else Pair(gold=document, found=other)
    if first is not None and left and len(left) == len(table):
        one = next(iter(left.values()))
        raise _different(f"no document has an id of the other side: {first.id!r} ({first.where}), {one.id!r} ({one.where})", summary)
    for document in left.values():
        other = _absent(document, led_summary)
        yield Pair(gold=document, found=other) if flipped else Pair(gold=other, found=document)


def _absent(other: AnnotatedDocument, side: SideSummary) -> AnnotatedDocument:
    """Return the empty document of *side*, where *other* is absent, and count it."""
    side.absent += 1
    return replace(other, where=side.file, mentions=(), malformed=0)


def _with_ids(documents: Iterator[AnnotatedDocument]) -> Iterator[AnnotatedDocument]:
    first = next(documents)
    if first.id is None:
        remedy = "Give the documents ids: those that the table has in its column of documents"
        raise DataError("the document has no id, so that no table can tell its mentions", where=first.where, remedy=remedy)
    return chain([first], documents)


def _check_same(pair: Pair) -> None:
    """Raise ``DataError`` if the two documents have different texts or questions."""
    gold, found = pair.gold, pair.found
    name = "the document" if gold.id is None or found.id is None else f"the document {gold.id!r}"
    if gold.text is not None and found.text is not None and gold.text != found.text:
        at = next(at for at, (one, other) in enumerate(zip_longest(gold.text, found.text)) if one != other)
        lengths = f"{len(gold.text):,} and {len(found.text):,} characters"
        fault = f"{name} has another text in the gold ({gold.where}): they differ from character {at} on ({lengths})"
        raise DataError(fault, where=found.where, remedy=_SAME_DOCUMENTS)
    if gold.question is not None and found.question is not None and gold.question != found.question:
        raise DataError(f"{name} has another question in the gold ({gold.where})", where=found.where, remedy=_SAME_DOCUMENTS)


def _in_text(document: AnnotatedDocument, text: str, side: SideSummary) -> AnnotatedDocument:
    """Return *document* with *text*, and its mentions looked up in it."""
    kept: list[AnnotatedMention] = []
    for mention in document.mentions:
        start, end = mention.start, mention.end
        if start is None or end is None:
            kept.append(mention)
            continue
        there = text[start:end] if 0 <= start < end <= len(text) else ""
        if there and mention.text in {there, ""}:  # "": the file states the place only
            kept.append(mention if mention.text else replace(mention, text=there))
            continue
        try:
            if side.keep(f"{quoted(mention.text)} is not at [{start}, {end}) of the text"):
                kept.append(replace(mention, start=None, end=None))
        except RowFault as fault:
            raise DataError(str(fault), where=document.where, remedy="Correct the row") from fault
    return replace(document, text=text, mentions=tuple(kept))


def _different(fault: str, summary: InputsSummary) -> DataError:
    where = f"{summary.gold.file} and {summary.found.file}"
    return DataError(fault, where=where, remedy=_SAME_DOCUMENTS)


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
    for name in settings.columns:
        if name not in COLUMNS and name not in ALL_FIELDS:
            remedy = f"Those of an entity table: {', '.join(COLUMNS)}; those of a table of records: {', '.join(FIELDS)}, spans.start …"
            raise UsageError(f"there is no field {name!r}", where="--columns", remedy=remedy)
    given = (
        (gold, settings.gold_format or settings.input_format),
        (found, settings.predictions_format or settings.input_format),
    )
    formats, columns = [], []
    for path, named in given:
        if not path.exists():
            raise DataError("there is no such file", where=str(path), remedy="Check the path")
        formats.append(find_format(path, settings.columns) if named is None else checked_format(named))
    for (path, named), file_format in zip(given, formats, strict=True):
        columns.append(columns_of(path, file_format, settings.columns, stated=named is not None))
    if set(settings.columns).difference(COLUMNS) and not any(columns):
        where, remedy = "--columns", "Leave it out, or name the formats of the files"
        raise UsageError("neither file has columns of these names", where=where, remedy=remedy)
    if needs == "mentions" and "capid" in formats:
        needs = "values"
    unplaced: Handling = "leave out" if settings.skip_values else "refuse"
    summary = InputsSummary(
        gold=SideSummary(file=str(gold), format=formats[0], unplaced=unplaced), found=SideSummary(file=str(found), format=formats[1])
    )
    own_types = {one.name: one for path in (found, gold) for one in types_beside(path)}  # of two with one name the first
    taxonomy = extended(tuple(own_types.values()))
    # Formats that spell one and the same type differently are read with the spellings of the taxonomy.
    respelled = not _AS_WRITTEN.intersection(formats) and _SPELLINGS.get(formats[0]) != _SPELLINGS.get(formats[1])
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
        places = ((one, tuple(mention for mention in one.mentions if types.of(None))) for one in read_tab_predictions(path))
        return (taken(replace(one, mentions=kept), needs, side) for one, kept in places)
    if side.format != TABLE:
        return read_documents(path, needs, columns, settings.locale, types, side)
    table = read_entity_table(path, settings.columns, types, side, offsets=offsets)
    if is_gold and not table:
        raise DataError("the table has no rows", where=str(path), remedy="A gold must have a mention, at least")
    return {name: taken(document, needs, side) for name, document in table.items()}
