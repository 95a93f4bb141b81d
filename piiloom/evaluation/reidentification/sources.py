"""Read what is attacked: a release, a file of records (with predictions, or with the vault of its surrogates), or a masked export."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.base import Json, ReadOptions, ReadTally, RowReject
from piiloom.corpus.formats.masked import masked_row
from piiloom.corpus.formats.native_rows import RowFault, numbered_lines, parse_object
from piiloom.corpus.formats.registry import get_readable_format
from piiloom.corpus.record import Record
from piiloom.corpus.releases.manifest import types_beside
from piiloom.corpus.store.opening import open_to_read
from piiloom.corpus.store.releases import count_members, get_release, iter_release_records, types_of
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention
from piiloom.evaluation.inputs.opening import PairSettings, open_pairs
from piiloom.evaluation.reidentification.attack import Subject, text_key
from piiloom.evaluation.report.sources import Tell, first_object, native_or_capid
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import extended

MASKED: Final = "masked"
_MASKED_KEYS: Final = {"masked", "typed", "surrogates", "spans"}  # of a row of a masked export
_PLACEHOLDER_ENDS: Final = {"[": "]", "<": ">", "{": "}", "(": ")"}
# Counts of what was left out of a file: ``refused_rows``, that are no records, and ``values_without_place``, that are not in their text.
LeftOut = dict[str, int]


def subjects_of_release(store: Path, name: str, *, surrogates: bool = False, tell: Tell | None = None) -> Iterator[Subject]:
    """Yield the records of a release, split by split; with *surrogates*, those that ``piiloom export --format masked`` would write."""
    with open_to_read(store, tell=tell) as opened:
        release = get_release(opened, name)
        taxonomy = extended(types_of(opened))
        for split in count_members(opened, release):
            for record in iter_release_records(opened, release, split):
                yield _subject(record, taxonomy, surrogates=surrogates)


def subjects_of_file(path: Path, reading: LeftOut, format_name: str | None = None, *, surrogates: bool = False) -> Iterator[Subject]:
    """Yield the records of a file in a readable format, or the rows of a masked export; *surrogates* as in ``subjects_of_release``.

    Without *format_name* it is masked, native or CAPID, as its first row decides. Rows that are no records are counted in *reading*. Raises
    ``DataError`` if the file cannot be read.
    """
    if format_name == MASKED or (format_name is None and first_object(path).keys() >= _MASKED_KEYS):
        yield from _masked_rows(path)
        return
    taxonomy = extended(types_beside(path))
    for record in _records(path, format_name, reading):
        yield _subject(record, taxonomy, surrogates=surrogates)


def subjects_masked_by(
    gold: Path, predictions: Path, reading: LeftOut, format_name: str | None = None, found_format: str | None = None
) -> Iterator[Subject]:
    """Yield the documents of *gold*, each with its prediction: files of any format that ``piiloom evaluate`` reads, paired as it does.

    Values of *gold* that are not in their text are left out, and counted in *reading*. Raises ``DataError`` for what ``open_pairs`` says.
    """
    settings = PairSettings(gold_format=format_name, predictions_format=found_format, skip_values=True)
    pairs, summary = open_pairs(gold, predictions, settings, types_matter=False)
    for pair in pairs:
        yield Subject(document=pair.gold, found=pair.found)
    reading["values_without_place"] = summary.gold.skipped


def subjects_with_vault(records: Path, vault: Path, format_name: str | None = None) -> Iterator[Subject]:
    """Yield the documents that ``piiloom surrogate run`` replaced: their own text and values from its *records* and *vault*.

    The vault is held in memory. Where it has a placeholder ("[NAME_1]"), the original is not known. Raises ``DataError`` if the vault
    cannot be read, or is of another run.
    """
    stood = _vault(vault)
    for record in _records(records, format_name):
        source = (record.source.id if record.source else None) or record.id
        pieces: list[str] = []
        mentions: list[AnnotatedMention] = []
        at = 0
        for span in record.spans:
            known = stood.get(text_key(source, str(span.start)))
            if known is None:
                missing = f"there is nothing for the place [{span.start}, {span.end}) of record {record.id}"
                raise DataError(missing, where=vault.name, remedy="Name the vault of the run that wrote the records")
            text, original = known
            pieces += (record.context[at : span.start], text)
            at = span.end
            mentions.append(AnnotatedMention(text=original, entity_type=span.entity_type, subtype=span.subtype, relevance=span.relevance))
        before = "".join((*pieces, record.context[at:]))
        document = AnnotatedDocument(where=records.name, id=record.id, text=before, locale=record.locale, mentions=tuple(mentions))
        yield Subject(document=document, surrogates=tuple(span.text_in(record.context) for span in record.spans))


def _records(path: Path, format_name: str | None, reading: LeftOut | None = None) -> Iterator[Record]:
    """Yield the records of a file. The first row that is none raises ``DataError``; with *reading*, only if there is no record at all."""
    if not path.exists():
        raise DataError("there is no such file", where=str(path), remedy="Check the path")
    file_format = get_readable_format(format_name) if format_name is not None else native_or_capid(path)
    tally = ReadTally()
    refused: RowReject | None = None
    records = 0
    options = ReadOptions(taxonomy=extended(types_beside(path)), skip_values=True, blank_contexts=True)
    for row in file_format.read(path, options, tally):
        if isinstance(row, Record):
            records += 1
            yield row
            continue
        refused = refused or row
        if reading is None:
            break
        reading["refused_rows"] += 1
    if refused is not None and (reading is None or not records):
        remedy = f"It was read as {file_format.name}; correct the row, or name another format"
        raise DataError(refused.reason, where=f"{path.name}:{refused.line}", remedy=remedy)
    if reading is not None:
        reading["values_without_place"] = len(tally.skipped_values)


def _subject(record: Record, taxonomy: Taxonomy, *, surrogates: bool) -> Subject:
    if not surrogates:
        return Subject(document=_document(record))
    replaced: Any = masked_row(record, taxonomy)[0]["surrogates"]
    return Subject(document=_document(record), surrogates=tuple(span["text"] for span in replaced["spans"]))


def _document(record: Record) -> AnnotatedDocument:
    mentions = tuple(
        AnnotatedMention(
            text=span.text_in(record.context),
            entity_type=span.entity_type,
            start=span.start,
            end=span.end,
            relevance=span.relevance,
            subtype=span.subtype,
        )
        for span in record.spans
    )
    return AnnotatedDocument(
        where=record.id, id=record.id, text=record.context, question=record.question, locale=record.locale, mentions=mentions
    )


def _masked_rows(path: Path) -> Iterator[Subject]:
    for number, line in numbered_lines(path):
        try:
            row = parse_object(line)
            yield _masked_subject(row)
        except RowFault as fault:
            raise DataError(str(fault), where=f"{path.name}:{number}", remedy="Give a file of `piiloom export --format masked`") from fault
        except (KeyError, TypeError, ValueError) as error:
            remedy = "Give a file of `piiloom export --format masked`"
            raise DataError("the row is not one of a masked export", where=f"{path.name}:{number}", remedy=remedy) from error


def _masked_subject(row: Json) -> Subject:
    spans: Any = row["spans"]
    replaced: Any = row["surrogates"]
    text, surrogates = row["text"], tuple(str(span["text"]) for span in replaced["spans"])
    if not isinstance(text, str) or len(surrogates) != len(spans):
        raise RowFault("surrogates: not one for each span of the text")
    places = ((span, int(span["start"]), int(span["end"])) for span in spans)
    mentions = tuple(
        AnnotatedMention(text=str(span["text"]), entity_type=str(span["type"]), start=start, end=end, relevance=span["relevance"])
        for span, start, end in places
    )
    document = AnnotatedDocument(where=str(row["id"]), id=str(row["id"]), text=text, mentions=mentions)
    return Subject(document=document, surrogates=surrogates)


def _vault(path: Path) -> dict[int, tuple[str, str]]:
    """Return what stood in a text and the value that it stood for, by document and place in the output; "" for a value not known."""
    found: dict[int, tuple[str, str]] = {}
    for number, line in numbered_lines(path):
        try:
            row = parse_object(line)
            if row.keys() & {"key", "raw", "sha256"}:
                continue  # the key of the run, the source of a text, or a digest of a file, by which the run can be reversed
            text = str(row["text"])
            original = str(row["original"]) if "original" in row else _unless_placeholder(text)
            found[text_key(str(row["id"]), str(row["new_start"]))] = text, original
        except (RowFault, KeyError) as error:
            remedy = "Give the file that `piiloom surrogate run --vault` wrote"
            raise DataError("the row is not one of a vault", where=f"{path.name}:{number}", remedy=remedy) from error
    return found


def _unless_placeholder(text: str) -> str:
    bare = text.strip()
    return "" if bare and _PLACEHOLDER_ENDS.get(bare[0]) == bare[-1] else text
