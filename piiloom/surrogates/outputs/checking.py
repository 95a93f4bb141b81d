"""Verify a run's output: read all of it again and compare it with the input.

Of the code that wrote the output only the format readers are used. Texts of the input, the mirror and the records are read in parallel.
Each code point outside the replaced ranges is compared, and so is everything in the files that is no text.

Reverse a run: put the originals of its vault back into its mirror.

The mirror is read and written by the readers of the input's formats, with input and output exchanged. The vault also holds the source of
each text that this does not give byte for byte (tokens of CoNLL, escapes of JSON), and a digest of each input file. With the digests the
restored files are compared: files by their bytes, Word documents and archives by their members, Parquet and Arrow files by their rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

from piiloom.foundation.errors import DataError
from piiloom.surrogates.documents import OffsetMap, Placed, Replaced
from piiloom.surrogates.inputs.column_files import batches_of
from piiloom.surrogates.inputs.conll_files import TokenSlot
from piiloom.surrogates.inputs.docx_files import DocxParsed
from piiloom.surrogates.inputs.parts import (
    BratLayout,
    CannotSpell,
    FilePart,
    FoundText,
    ParquetLayout,
    Parsed,
    SourceFile,
    SourceSettings,
    TableLayout,
    TextSlot,
    with_changes,
)
from piiloom.surrogates.inputs.reading import PartReader, read_parts
from piiloom.surrogates.inputs.source import Allowance, InputSource, archive_members, open_archive, open_source, read_member
from piiloom.surrogates.inputs.tables import CellsSlot, joined_ranges, joined_texts, question_start
from piiloom.surrogates.outputs.folder import MAP, MIRROR, RECORDS, REPORT, RunFolder
from piiloom.surrogates.outputs.writing import MirrorFolder


@dataclass(slots=True)
class Checked:
    """Counts of what was compared: documents, replaced ranges, and code points outside them (``same``)."""

    documents: int = 0
    ranges: int = 0
    same: int = 0


class _Strand(NamedTuple):
    """A section of a file: the content before the next text (``between``), and that text.

    For the rest after the last text ``found`` is None. ``line`` is the 1-based line of the text; ``parsed`` is the part it is in.
    """

    file: SourceFile
    line: int
    between: str
    found: FoundText | None
    parsed: Parsed


def verify_folder(folder: Path, source: Path) -> Checked:
    """Compare the output *folder* with its input *source*. Raises ``DataError`` that names the first place where they do not agree."""
    settings = run_settings(folder, source)
    checked = Checked()
    with ExitStack() as stack:
        before = stack.enter_context(open_source(settings))
        after = stack.enter_context(open_source(replace(settings, path=folder / MIRROR)))
        _check_files(before, after)
        maps = stack.enter_context((folder / MAP).open(encoding="utf-8", newline="\n"))
        records = stack.enter_context((folder / RECORDS).open(encoding="utf-8", newline="\n"))
        rows = _rows(maps, records)
        for old, new in zip_longest(_strands(before), _strands(after)):
            if old is None or new is None or old.file.number != new.file.number or (old.found is None) != (new.found is None):
                raise _fault(f"{MIRROR}/{(old or new).file.name}", "has other rows than the input")
            where = f"{MIRROR}/{old.file.name}:{new.line}"
            if old.between != new.between:
                raise _fault(where, "differs from the input outside of its texts")
            if old.found is not None and new.found is not None:
                _check_surroundings(old, new, where)
                _check_document(old, new.found, next(rows, None), checked)
        if next(rows, None) is not None:
            raise _fault(MAP, "has more lines than there are documents")
        _check_columns(before, after)
    return checked


def report_of(folder: Path) -> dict[str, Any]:
    """Return the report of the run in *folder*. Raises ``DataError`` if there is none."""
    try:
        report: dict[str, Any] = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        SourceSettings.from_json(folder, report["input"]["settings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            "there is no readable report of a run", where=str(folder / REPORT), remedy="Give the folder that piiloom surrogate run made"
        ) from error
    return report


def run_settings(folder: Path, source: Path) -> SourceSettings:
    """Return the settings with which the run in *folder* read its input, to read *source* in the same way."""
    return SourceSettings.from_json(source, report_of(folder)["input"]["settings"])


def _check_files(before: InputSource, after: InputSource) -> None:
    names = [[file.name for file in source.files] for source in (before, after)]
    _refuse(names[0] != names[1], MIRROR, "has other files than the input")
    for old, new in zip(before.files, after.files, strict=True):
        recoded = (old.encoding, old.bom) != (new.encoding, new.bom)
        _refuse(recoded, f"{MIRROR}/{old.name}", "has another encoding or byte-order mark")
        if isinstance(old.layout, TableLayout):  # read the mirror with the input's layout, as surrogates must not affect the detection
            after.files[new.number] = new._replace(layout=old.layout)


def _strands(source: InputSource) -> Iterator[_Strand]:
    file, line, between, parsed = source.files[0], 1, "", Parsed()
    with closing(read_parts(source)) as parts:
        for part, read in parts:
            if part.file.number != file.number:
                yield _Strand(file, line, between, None, parsed)
                file, line, between = part.file, 1, ""
            parsed, at = read, 0
            for found in parsed.found:
                yield _Strand(file, line + found.line, between + parsed.outside(at, found.slot.start), found, parsed)
                at, between = found.slot.end, ""
            between += parsed.outside(at, len(parsed.raw))
            line += parsed.lines
        yield _Strand(file, line, between, None, parsed)


def _check_surroundings(old: _Strand, new: _Strand, where: str) -> None:
    """Compare ids, and what is in a slot besides the text: markup of XML, the rest of a JSON row with spans."""
    assert old.found is not None and new.found is not None  # noqa: S101, PT018 - checked by the caller
    if old.found.id != new.found.id:
        raise _fault(where, "the row has another id")
    if old.found.slot.rest(old.parsed) != new.found.slot.rest(new.parsed):
        of_row = isinstance(old.found.slot, CellsSlot)
        raise _fault(where, "the row differs outside of its text and spans" if of_row else "the markup or the annotations differ")


def _rows(maps: TextIO, records: TextIO) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    for number, (one, other) in enumerate(zip_longest(maps, records), start=1):
        try:
            yield number, json.loads(one), json.loads(other)
        except (TypeError, ValueError) as error:
            raise _fault(f"{MAP}:{number}", "or the record beside it is missing, or is not JSON") from error


def _check_document(old: _Strand, new: FoundText, row: tuple[int, dict[str, Any], dict[str, Any]] | None, checked: Checked) -> None:
    assert old.found is not None  # noqa: S101 - checked before
    if row is None:
        raise _fault(MAP, "has fewer lines than there are documents")
    number, mapped, record = row
    where = f"{MAP}:{number}"
    text, context = old.found.text, record["context"]
    of_record = f"{RECORDS}:{number}"
    questions = {question is None for question in (record["question"], old.found.question_at, new.question_at)}
    _refuse(len(questions) > 1, of_record, "has a question that the input has not, or none")
    own, ranges, new_text = _moves(mapped, record, old.found.question_at, where)
    elsewhere = mapped["file"] != old.file.name or (mapped["line"] is not None and mapped["line"] != old.line)
    _refuse(elsewhere, where, "names another place than the document's")
    _refuse(new_text != new.text, of_record, "has another text than the mirror")
    _refuse(not ranges.agrees(text, new_text), where, "the text differs from the input outside of the replaced ranges")
    _check_moved(old, new, ranges)
    spans = record["spans"]
    others = [(span["start"], span["end"]) for span in spans] != [(start, end) for _, _, start, end in own.ranges]
    _refuse(others, of_record, "has other spans than the map has ranges")
    changed = any(context[span["start"] : span["end"]] != span["text"] for span in spans)
    _refuse(changed, of_record, "a span's text is not that of the context")
    _refuse(record["meta"]["source"]["id"] != mapped["id"], of_record, "has another id than the map")
    checked.documents += 1
    checked.ranges += len(ranges.ranges)
    checked.same += len(text) - sum(end - start for start, end, _, _ in ranges.ranges)


def _moves(mapped: dict[str, Any], record: dict[str, Any], asked: int | None, where: str) -> tuple[OffsetMap, OffsetMap, str]:
    """Return the maps of the text alone and of text and question, and the new text of both. *asked* is where the question began."""
    context = record["context"]
    try:
        own = OffsetMap(mapped["ranges"])
        if asked is None:
            return own, own, context
        ranges = joined_ranges(own.ranges, mapped["question_ranges"], asked, question_start(context))
        return own, OffsetMap(ranges), joined_texts(context, record["question"])
    except (DataError, KeyError, TypeError, ValueError) as error:
        raise _fault(where, "the ranges are not a valid offset map") from error


def _check_moved(old: _Strand, new: FoundText, ranges: OffsetMap) -> None:
    """Compare what the file tells of places of the text: spans, and the columns of tokens."""
    assert old.found is not None  # noqa: S101 - checked before
    moved = [(ranges.to_output(start), ranges.to_output(end, end=True)) for start, end in old.found.slot.ranges]
    if list(dict.fromkeys(moved)) != list(dict.fromkeys(new.slot.ranges)):
        raise _fault(f"{MIRROR}/{old.file.name}", "its stand-off spans are not where the map has them")
    if isinstance(old.found.slot, TokenSlot) and isinstance(new.slot, TokenSlot):
        sides = zip(*(((start, end), (new_start, new_end)) for start, end, new_start, new_end in ranges.ranges), strict=True)
        before, after = tuple(sides) or ((), ())
        if old.found.slot.columns_outside(before) != new.slot.columns_outside(after):
            raise _fault(f"{MIRROR}/{old.file.name}", "the columns differ outside of the replaced tokens")


def _check_columns(before: InputSource, after: InputSource) -> None:
    """Compare the columns of Parquet files that hold no text."""
    for old, new in zip(before.files, after.files, strict=True):
        if not isinstance(old.layout, ParquetLayout):
            continue
        texts = [*old.layout.columns, *filter(None, [old.layout.spans, old.layout.question])]
        for one, other in zip(batches_of(old), batches_of(new), strict=True):
            rows, new_rows = one.drop_columns(texts), other.drop_columns(texts)
            if rows.schema != new_rows.schema or not rows.equals(new_rows):
                raise _fault(f"{MIRROR}/{old.name}", "differs from the input outside of its texts")


def _refuse(wrong: bool, where: str, message: str) -> None:
    if wrong:
        raise _fault(where, message)


def _fault(where: str, message: str) -> DataError:
    return DataError(message, where=where, remedy="The output was changed after the run: run again")


_BLOCK: Final = 1 << 20
_WORK: Final = ".restoring"
_EXACT: Final = frozenset({"csv", "tsv", "json", "jsonl", "xml", "conll"})  # formats of which a text may have several spellings


@dataclass(slots=True)
class RestoredRun:
    """Counts of a restored run. ``differing`` are files that are not as the input was, ``unknown`` those without a digest in the vault.

    ``left_out`` are files of the input that the run did not read, and that are not in its mirror.
    """

    files: int = 0
    documents: int = 0
    places: int = 0
    differing: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


class _VaultEntry(NamedTuple):
    """The vault's lines of one document: places in its text and in its question, and the source of the text if that is needed."""

    id: str
    text: list[dict[str, Any]]
    question: list[dict[str, Any]]
    raw: str | None = None


def content_digest(file: SourceFile) -> str:
    """Return a digest of what *file* holds: of its bytes, or of its members or rows where the bytes depend on who writes them."""
    digest = hashlib.sha256()
    if isinstance(file.layout, ParquetLayout):
        for rows in batches_of(file):
            digest.update(repr((rows.schema.to_string(), rows.to_pylist())).encode("utf-8", "surrogatepass"))
    elif file.format == "docx" and file.size:
        with open_archive(file.path, file.name) as archive:
            for info in archive_members(archive, file.name):
                digest.update(info.filename.encode() + b"\0" + read_member(archive, info, Allowance(1 << 40), file.name))
    else:
        for path in (file.path, *([file.layout.path] if isinstance(file.layout, BratLayout) else [])):
            with path.open("rb") as fh:
                while block := fh.read(_BLOCK):
                    digest.update(block)
    return digest.hexdigest()


def digest_lines(source: InputSource) -> bytes:
    """Return the vault's lines about the files of the input."""
    return "".join(
        json.dumps({"file": file.name, "sha256": content_digest(file)}, ensure_ascii=False) + "\n" for file in source.files
    ).encode()


def sources_kept(reader: PartReader, part: FilePart, parsed: Parsed, mirror: bytes, replaced: Sequence[Replaced]) -> list[str | None]:
    """Return the source of each text of *parsed* that cannot be had again, byte for byte, from *mirror* and the vault's places."""
    kept: list[str | None] = [None] * len(parsed.found)
    again = parsed
    if isinstance(parsed, DocxParsed):
        again = parsed.again(replaced)
    elif part.file.format in _EXACT:
        again = reader.parse(part._replace(ascii=False), mirror[len(parsed.bom) :].decode("utf-8"))
    if again is parsed or len(again.found) != len(parsed.found):
        return kept
    for number, (old, new, done) in enumerate(zip(parsed.found, again.found, replaced, strict=True)):
        raw = parsed.raw[old.slot.start : old.slot.end]
        if done.placed and not _gives(again, new.slot, _reversed(old.text, done.placed), raw):
            kept[number] = raw
    return kept


def _gives(mirror: Parsed, slot: TextSlot, done: Replaced, raw: str) -> bool:
    try:
        return with_changes(mirror.raw, slot.start, slot.end, slot.changes(mirror, done)) == raw
    except (CannotSpell, DataError):
        return False


def _reversed(text: str, placed: Sequence[Placed]) -> Replaced:
    """Return what makes the input's *text* of the output's."""
    return Replaced(text, [one._replace(start=one.new_start, end=one.new_end, new_start=one.start, new_end=one.end) for one in placed])


def restore_folder(folder: Path, vault: Path, out: Path) -> RestoredRun:
    """Write the input of the run in *folder* to the new folder *out*, with the originals in *vault*.

    Raises ``DataError`` if the vault or the folder is none of a run, or if they are not of one run; ``UsageError`` or ``OutputError`` if
    *out* cannot be made.
    """
    settings = run_settings(folder, folder / MIRROR)
    report = report_of(folder)
    restored = RestoredRun(left_out=list(report["input"]["skipped"]))
    with ExitStack() as stack:
        output = stack.enter_context(RunFolder(out, folder))
        source = stack.enter_context(open_source(settings))
        _take_layouts(source, report["files"])
        lines = stack.enter_context(_opened(vault))
        maps = stack.enter_context((folder / MAP).open(encoding="utf-8", newline="\n"))
        work = output.partial / _WORK
        mirrors = MirrorFolder(work, source.archives)
        stack.callback(mirrors.abandon)
        digests = _put_back(source, maps, lines, mirrors, restored, vault)
        mirrors.close()
        if restored.places != report["replaced"]["total"]:
            raise _of_another_run(vault)
        after = stack.enter_context(open_source(replace(settings, path=work)))
        _take_layouts(after, report["files"])
        for file in after.files:
            known = digests.get(file.name)
            if known is None:
                restored.unknown.append(file.name)
            elif known != content_digest(file):
                restored.differing.append(file.name)
        restored.files = len(after.files)
        for path in work.iterdir():
            path.rename(output.partial / path.name)
        work.rmdir()
        output.publish()
    return restored


def _opened(vault: Path) -> TextIO:
    try:
        return vault.open(encoding="utf-8", errors="surrogateescape", newline="\n")
    except OSError as error:
        remedy = "Name the file that --vault of the run named"
        raise DataError(f"the vault cannot be read ({error.strerror})", where=str(vault), remedy=remedy) from error


def _take_layouts(source: InputSource, told: Sequence[dict[str, Any]]) -> None:
    """Read tables with the delimiter and quotes of the input, as surrogates must not affect their detection."""
    known = {file["file"]: file for file in told}
    for file in source.files:
        layout, row = file.layout, known.get(file.name, {})
        if isinstance(layout, TableLayout) and "delimiter" in row:
            source.files[file.number] = file._replace(layout=layout._replace(delimiter=row["delimiter"], quoted=row["quoted"]))


def _put_back(
    source: InputSource, maps: TextIO, lines: TextIO, mirrors: MirrorFolder, restored: RestoredRun, vault: Path
) -> dict[str, str]:
    """Write all files with their originals. Return the digests of the input's files, by name."""
    digests: dict[str, str] = {}
    entries = _entries(lines, digests, vault)
    entry = next(entries, None)
    with closing(read_parts(source)) as parts:
        for part, parsed in parts:
            done = []
            for number, one in enumerate(parsed.found):
                own = json.loads(next(maps, "{}")).get("id")
                if entry is None or entry.id != own:
                    done.append(Replaced(one.text, []))
                    continue
                original = _original(one, entry, vault)
                if entry.raw is not None:  # the source of the text is known, and is put in as it is
                    parsed.found[number] = one._replace(slot=TextSlot(one.slot.start, one.slot.end))
                    original.text = entry.raw
                done.append(original)
                restored.places += len(original.placed)
                entry = next(entries, None)
            restored.documents += len(done)
            mirrors.write(part, parsed.mirrored(done))
    if entry is not None:
        raise _of_another_run(vault)
    return digests


def _entries(lines: TextIO, digests: dict[str, str], vault: Path) -> Iterator[_VaultEntry]:
    """Yield the documents of the vault in order; its digests go into *digests*."""
    own: _VaultEntry | None = None
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            if "sha256" in row:
                digests[row["file"]] = row["sha256"]
            elif "id" in row:
                if own is None or own.id != row["id"]:
                    if own is not None:
                        yield own
                    own = _VaultEntry(row["id"], [], [])
                if "raw" in row:
                    own = own._replace(raw=row["raw"])
                else:
                    (own.question if row.get("field") else own.text).append(row)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError("the line is none of a vault", where=f"{vault}:{number}", remedy="Name the vault of the run") from error
    if own is not None:
        yield own


def _original(one: FoundText, entry: _VaultEntry, vault: Path) -> Replaced:
    """Return what puts the originals of *entry* into the document of the mirror."""
    grown = entry.text[-1]["end"] - entry.text[-1]["new_end"] if entry.text else 0
    new_shift = one.question_at or 0
    places = [(row, 0, 0) for row in entry.text] + [(row, new_shift, new_shift + grown) for row in entry.question]
    placed: list[Placed] = []
    changes: list[tuple[int, int, str]] = []
    at = old_at = 0
    for row, shift, old_shift in places:
        start, end = row["new_start"] + shift, row["new_end"] + shift
        old_start, old_end = row["start"] + old_shift, row["end"] + old_shift
        if not (at <= start < end <= len(one.text) and start - at == old_start - old_at and old_end - old_start == len(row["text"])):
            raise _of_another_run(vault)
        placed.append(Placed(start, end, old_start, old_end, "", "", None, "", ""))
        changes.append((start, end, row["text"]))
        at, old_at = end, old_end
    return Replaced(with_changes(one.text, 0, len(one.text), changes), placed)


def _of_another_run(vault: Path) -> DataError:
    return DataError("the vault is not of this run, or the run's mirror was changed", where=str(vault), remedy="Name the vault of the run")
