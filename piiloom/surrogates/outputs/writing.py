"""Mirrors: copies of the input files, in their own formats and encodings, with the surrogates in them.

Parquet and Arrow files keep their schema and metadata. Without a changed cell, they are byte-for-byte copies of the input file.

The lines of a run's outputs: records, offset map, rows that were set aside, and the vault.

Lines of records are built by hand, since ``json.dumps`` takes four times as long. Tests compare them with ``native_rows.row_of``.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import shutil
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import lru_cache
from importlib import import_module
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any, Final

from piiloom.foundation.errors import RunError
from piiloom.surrogates.documents import Document, Placed, Replaced
from piiloom.surrogates.inputs.column_files import ArrowFile, RowCursor, arrow_modules, changed_table, open_table
from piiloom.surrogates.inputs.given_spans import SUFFIX
from piiloom.surrogates.inputs.parts import BratLayout, FilePart, ParquetLayout, SourceFile
from piiloom.surrogates.inputs.source import copied_info
from piiloom.surrogates.inputs.text_files import MirrorEncoder

_ROW_GROUP_BYTES: Final = 64 * 2**20
_BLOCK: Final = 1 << 20
_MEMBERS: Final = ".members"  # the folder in which the files of a member are until they are packed


class MirrorFolder:
    """Writes the mirror to the new *folder*, from the parts of all files in input order.

    Members of an archive go to an archive of the same name. *archives* has the path of each input archive by name.
    """

    def __init__(self, folder: Path, archives: dict[str, Path]) -> None:
        self._folder = folder
        self._archives = archives
        self._file: SourceFile | None = None
        self._mirror: _FileMirror | None = None
        self._zip: zipfile.ZipFile | None = None
        self._infos: dict[str, zipfile.ZipInfo] = {}  # the members of the input archive that is read
        folder.mkdir()

    def write(self, part: FilePart, data: bytes) -> None:
        """Add *data*, the result of ``Parsed.mirrored`` for *part*."""
        if self._file is None or part.file.number != self._file.number:
            self._end(part.file.archive)
            self._file = part.file
            self._mirror = self._opened(part.file)
        if self._mirror is not None:
            self._mirror.write(part, data)

    def _opened(self, file: SourceFile) -> _FileMirror:
        target = self._folder / (file.archive or file.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not file.archive:
            return _open(file, target)
        if self._zip is None:
            with zipfile.ZipFile(self._archives[file.archive]) as archive:
                self._infos = {f"{file.archive}/{info.filename}": info for info in archive.infolist()}
            self._zip = zipfile.ZipFile(target, "x")
        (self._folder / _MEMBERS).mkdir()
        return _open(file, self._folder / _MEMBERS / "0")

    def _end(self, archive: str = "") -> None:
        """Finish the last file, and its archive unless that is *archive*."""
        file, mirror, self._mirror = self._file, self._mirror, None
        if file is None:
            return
        if mirror is not None:
            mirror.close()
        if self._zip is not None:
            if mirror is not None:
                self._pack(file, self._zip)
            if file.archive != archive:
                self._zip.close()
                self._zip = None

    def _pack(self, file: SourceFile, archive: zipfile.ZipFile) -> None:
        """Add *file*, and its annotations, to *archive*, in the same order and with the same compression as in the input."""
        names = {"0": file.name} | ({f"0{SUFFIX}": file.layout.name} if isinstance(file.layout, BratLayout) else {})
        for own, name in names.items():
            info, path = copied_info(self._infos[name]), self._folder / _MEMBERS / own
            with path.open("rb") as source, archive.open(info, "w", force_zip64=True) as out:
                shutil.copyfileobj(source, out, _BLOCK)
        shutil.rmtree(self._folder / _MEMBERS)

    def close(self) -> None:
        """Finish the last file."""
        self._end()

    def abandon(self) -> None:
        """Close all open files and ignore errors. Called when the run ends; after a failure the mirror is not used."""
        for open_one in (self._mirror, self._zip):
            if open_one is not None:
                with suppress(Exception):  # the error that stopped the run must not be replaced by another
                    open_one.close()
        self._mirror = self._zip = None


def _open(file: SourceFile, target: Path) -> _FileMirror:
    """Return what writes the mirror of *file* to *target*."""
    if isinstance(file.layout, ParquetLayout):
        return (_ArrowMirror if file.format == "arrow" else _ParquetMirror)(file, target)
    return (_BratMirror if isinstance(file.layout, BratLayout) else _TextMirror)(file, target)


class _TextMirror:
    def __init__(self, file: SourceFile, target: Path) -> None:
        self._fh = target.open("xb")
        self._encoder = MirrorEncoder(file) if file.encoding != "utf-8" else None
        if self._encoder is not None:
            self._fh.write(file.bom)

    def write(self, part: FilePart, data: bytes) -> None:  # noqa: ARG002 - a mirror's signature
        self._fh.write(self._encoder.encode(data) if self._encoder is not None else data)

    def close(self) -> None:
        with self._fh:
            if self._encoder is not None:
                self._fh.write(self._encoder.encode(b"", last=True))


class _BratMirror:
    """Writes a text and, beside it, its annotations; both in the encoding of the text."""

    def __init__(self, file: SourceFile, target: Path) -> None:
        self._mirrors = (_TextMirror(file, target), _TextMirror(file._replace(bom=b""), target.with_suffix(SUFFIX)))

    def write(self, part: FilePart, data: bytes) -> None:
        for mirror, own in zip(self._mirrors, marshal.loads(data), strict=True):  # noqa: S302 - written by ``BratParsed.mirrored`` a moment ago
            mirror.write(part, own)

    def close(self) -> None:
        for mirror in self._mirrors:
            mirror.close()


class _TableMirror:
    """Collects the rows of parts, and has whole groups of rows written."""

    def __init__(self, file: SourceFile, target: Path) -> None:
        self._file, self._target = file, target
        self._pyarrow, self._parquet = arrow_modules()
        layout = file.layout
        assert isinstance(layout, ParquetLayout)  # noqa: S101 - such a file has one
        self._cursor = RowCursor(file, None, layout.batch)
        self._waiting: list[Any] = []
        self._rows = self._bytes = 0
        self._changed = False
        self._writer: Any = None

    def write(self, part: FilePart, data: bytes) -> None:
        """Add the rows of *part*, changed as *data* says."""
        if part.end == part.start:
            return
        table = changed_table(self._cursor.take(part.start, part.end), data)
        self._changed = self._changed or bool(data)
        self._waiting.append(table)
        self._rows += table.num_rows
        self._bytes += table.nbytes
        self._write_full()

    def _write_full(self) -> None:
        """Write the waiting rows if there are enough of them."""

    def _write_rest(self) -> None:
        """Write the waiting rows."""

    def _taken(self) -> Any:
        """Return all waiting rows as one table."""
        table = self._pyarrow.concat_tables(self._waiting)
        self._waiting, self._rows, self._bytes = [], 0, 0
        return table

    def close(self) -> None:
        """Write the rest, and close the file."""
        with closing(self._cursor), closing(self._writer):
            self._write_rest()
        if not self._changed:
            shutil.copyfile(self._file.path, self._target)


class _ParquetMirror(_TableMirror):
    """Writes a Parquet file with the same compression, and row groups of about the same size."""

    def __init__(self, file: SourceFile, target: Path) -> None:
        super().__init__(file, target)
        with closing(open_table(file)) as source:
            schema, meta = source.schema_arrow, source.metadata
            group = meta.row_group(0) if meta.num_row_groups else None
            packing = group.column(0).compression.lower() if group is not None and group.num_columns else "snappy"
            self._group_rows = group.num_rows if group is not None else 1
        self._writer = self._parquet.ParquetWriter(target, schema, compression="none" if packing == "uncompressed" else packing)

    def _write_full(self) -> None:
        if self._rows >= self._group_rows or self._bytes >= _ROW_GROUP_BYTES:
            self._write_rest()

    def _write_rest(self) -> None:
        if self._waiting:
            rows = self._rows
            self._writer.write_table(self._taken(), row_group_size=max(rows, 1))


class _ArrowMirror(_TableMirror):
    """Writes an Arrow file of the same kind, stream or indexed, with record batches of the same numbers of rows."""

    def __init__(self, file: SourceFile, target: Path) -> None:
        super().__init__(file, target)
        ipc = import_module("pyarrow.ipc")
        with closing(ArrowFile(file.path, file.name)) as source:
            self._sizes = source.batch_sizes()[::-1]
            self._writer = (ipc.new_file if source.indexed else ipc.new_stream)(str(target), source.schema_arrow)

    def _write_full(self) -> None:
        if not self._sizes or self._rows < self._sizes[-1]:
            return
        table = self._taken()
        at = 0
        while self._sizes and table.num_rows - at >= self._sizes[-1]:
            rows = self._sizes.pop()
            batch = table.slice(at, rows).combine_chunks()
            self._writer.write_table(batch, max_chunksize=max(rows, 1))
            at += rows
        if at < table.num_rows:
            self._waiting, self._rows = [table.slice(at)], table.num_rows - at

    def _write_rest(self) -> None:
        if self._waiting:
            self._writer.write_table(self._taken().combine_chunks())


_FileMirror = _TextMirror | _BratMirror | _TableMirror


_TOGETHER: Final = 4096  # spans or ranges
quote = lru_cache(maxsize=1 << 12)(encode_basestring)  # cached, for strings that repeat often: types, files


def check_replaced(document: Document, replaced: Replaced) -> None:
    """Check an engine's result. Raises ``RunError`` if its places are unsorted, empty or overlap, or if text outside them has changed."""
    at = new_at = 0
    text, new_text = document.text, replaced.text
    same = True
    for start, end, new_start, new_end, _, _, _, _, _ in replaced.placed:
        if not (at <= start < end and new_start < new_end and start - at == new_start - new_at):
            raise _wrong(document, f"the place [{start}, {end}) → [{new_start}, {new_end}) does not fit the one before it, or is empty")
        same = same and text[at:start] == new_text[new_at:new_start]
        at, new_at = end, new_end
    if not same or at > len(text) or text[at:] != new_text[new_at:]:
        raise _wrong(document, "text outside the places has changed")


def _wrong(document: Document, what: str) -> RunError:
    return RunError(f"the engine gave an invalid result: {what}", where=document.id, remedy="Please report this as a bug in piiloom")


def record_id(document: Document, replaced: Replaced) -> str:
    """Return the record's id: 16 hex digits, a hash of the text and the document's id, which is unique.

    Raises ``RunError`` if a surrogate holds half a UTF-16 pair, which UTF-8 cannot encode.
    """
    try:
        content = f"surrogate\0{document.id}\0{replaced.text}".encode()
    except UnicodeEncodeError as error:
        raise _wrong(document, "a surrogate holds half a character, which UTF-8 cannot hold") from error
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def record_parts(document: Document, replaced: Replaced, locale: str, question: str | None = None) -> list[bytes]:
    """Return the line of ``records.jsonl``, with its line feed, in parts: joined, that of a long document would be held twice."""
    asked = "null" if question is None else encode_basestring(question)
    text, own_id = replaced.text, record_id(document, replaced)
    spans = _in_blocks(_spans_json, text, replaced.placed)
    doc_id = encode_basestring(document.id)
    line = f', "line": {document.line}' if document.line is not None else ""
    head = f'{{"id": "{own_id}", "locale": {quote(locale)}, "context": {encode_basestring(text)}, "question": {asked}, '
    stated = f', "person_groups": {json.dumps(replaced.person_groups, ensure_ascii=False)}' if replaced.person_groups is not None else ""
    source = f'"source": {{"file": {quote(document.file)}{line}, "id": {doc_id}}}'
    tail = f'"meta": {{{source}, "group_keys": ["document:{doc_id[1:]}]{stated}}}}}\n'
    return [head.encode(), b'"spans": [', *spans, b"], ", tail.encode()]


def _in_blocks(tell: Callable[[int, str, Sequence[Placed]], list[str]], text: str, placed: Sequence[Placed]) -> list[bytes]:
    """Return what *tell* gives for all places, in blocks that are to be joined: as a text a long one takes several times the space."""
    blocks: list[bytes] = []
    for at in range(0, len(placed), _TOGETHER):
        blocks += (b", " if at else b"", ", ".join(tell(at + 1, text, placed[at : at + _TOGETHER])).encode())
    return blocks


def _spans_json(first: int, text: str, placed: Sequence[Placed]) -> list[str]:
    """Return the spans of *placed*, of which the first is number *first* of its document."""
    encoded, type_of, rest_of = encode_basestring, _type_json, _rest_json
    return [
        f'{{"start": {start}, "end": {end}, "text": {encoded(text[start:end])}, {type_of(entity_type)}, "id": "s{number}"'
        f"{rest_of(subtype, value_id)}}}"
        for number, (_, _, start, end, _, entity_type, subtype, value_id, _) in enumerate(placed, first)
    ]


def _ranges_json(first: int, text: str, placed: Sequence[Placed]) -> list[str]:  # noqa: ARG001 - what ``_in_blocks`` calls
    return [f"[{start}, {end}, {new_start}, {new_end}]" for start, end, new_start, new_end, _, _, _, _, _ in placed]


@lru_cache(maxsize=1 << 10)
def _type_json(entity_type: str) -> str:
    return f'"type": {encode_basestring(entity_type)}, "relevance": null'


@lru_cache(maxsize=1 << 12)
def _rest_json(subtype: str | None, value_id: str) -> str:
    told = (("subtype", subtype), ("value_id", value_id or None))
    return "".join([f', "{key}": {encode_basestring(value)}' for key, value in told if value is not None])


def map_parts(document: Document, replaced: Replaced, question: Replaced | None = None) -> list[bytes]:
    """Return the line of ``map.jsonl`` in parts: the document and [start, end, new start, new end] of each replaced range."""
    ranges = _in_blocks(_ranges_json, "", replaced.placed)
    asked = [b', "question_ranges": [', *_in_blocks(_ranges_json, "", question.placed), b"]"] if question is not None else []
    about = {"id": document.id, "file": document.file, "line": document.line}
    return [json.dumps(about, ensure_ascii=False)[:-1].encode(), b', "ranges": [', *ranges, b"]", *asked, b"}\n"]


def skipped_line(file: str, line: int, reason: str) -> str:
    """Return the line of ``skipped_rows.jsonl`` for a row that was set aside. It does not hold the row, which may hold originals."""
    return json.dumps({"file": file, "line": line, "reason": reason}, ensure_ascii=False) + "\n"


def source_line(document: Document, raw: str) -> str:
    """Return the vault's line with the source of a text, as its file spells it."""
    return json.dumps({"id": document.id, "raw": raw}, ensure_ascii=False) + "\n"


def vault_lines(document: Document, replaced: Replaced, field: str = "") -> str:
    """Return the document's lines of the vault: the replaced text of each place, and its original where that is known.

    *field* says that the places are not in the text: "question".
    """
    originals = {(one.start, one.end): one.original for one in document.mentions or () if one.original}
    apart = {"field": field} if field else {}
    rows = []
    for place in replaced.placed:
        ends = {"start": place.start, "end": place.end, "new_start": place.new_start, "new_end": place.new_end}
        row = {"id": document.id, **apart, **ends, "text": document.text[place.start : place.end]}
        if (place.start, place.end) in originals:
            row["original"] = originals[place.start, place.end]
        rows.append(json.dumps(row, ensure_ascii=False) + "\n")
    return "".join(rows)
