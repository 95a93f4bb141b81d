"""Mirrors: copies of the input files, in their own formats and encodings, with the surrogates in them.

Parquet and Arrow files keep their schema and metadata. Without a changed cell, they are byte-for-byte copies of the input file.
"""

from __future__ import annotations

import marshal
import shutil
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Protocol
from piiloom.surrogates.inputs.brat_files import SUFFIX
from piiloom.surrogates.inputs.text_files import MirrorEncoder
from piiloom.surrogates.inputs.parts import BratLayout, InputFile, ParquetLayout, Part
import shutil
from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from piiloom.surrogates.inputs.arrow_files import ArrowFile
from piiloom.surrogates.inputs.column_rows import changed_table
from piiloom.surrogates.inputs.parquet_files import RowCursor, arrow_modules, open_table
from piiloom.surrogates.inputs.parts import InputFile, ParquetLayout, Part


_ROW_GROUP_BYTES: Final = 64 * 2**20


class _TableMirror(ABC):
    """Collects the rows of parts, and has whole groups of rows written."""

    def __init__(self, file: InputFile, target: Path) -> None:
        self._file, self._target = file, target
        self._pyarrow, _ = arrow_modules()
        layout = file.layout
        assert isinstance(layout, ParquetLayout)  # noqa: S101 - such a file has one
        self._cursor = RowCursor(file, None, layout.batch)
        self._waiting: list[Any] = []
        self._rows = self._bytes = 0
        self._changed = False

    def write(self, part: Part, data: bytes) -> None:
        """Add the rows of *part*, changed as *data* says."""
        if part.end == part.start:
            return
        table = changed_table(self._cursor.take(part.start, part.end), data)
        self._changed = self._changed or bool(data)
        self._waiting.append(table)
        self._rows += table.num_rows
        self._bytes += table.nbytes
        self._full()

    @abstractmethod
    def _full(self) -> None:
        """Write the waiting rows if there are enough of them."""

    @abstractmethod
    def _end(self) -> None:
        """Write the waiting rows, and end the file."""

    def _taken(self) -> Any:
        """Return all waiting rows as one table."""
        table = self._pyarrow.concat_tables(self._waiting)
        self._waiting, self._rows, self._bytes = [], 0, 0
        return table

    def close(self) -> None:
        """Write the rest, and close the file."""
        try:
            self._end()
        finally:
            self._cursor.close()
        if not self._changed:
            with self._file.path.open("rb") as source, self._target.open("wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)


class ParquetMirror(_TableMirror):
    """Writes a Parquet file with the same compression, and row groups of about the same size."""

    def __init__(self, file: InputFile, target: Path) -> None:
        super().__init__(file, target)
        _, parquet = arrow_modules()
        with open_table(file) as source:
            schema, meta = source.schema_arrow, source.metadata
            group = meta.row_group(0) if meta.num_row_groups else None
            packing = group.column(0).compression.lower() if group is not None and group.num_columns else "snappy"
            self._group_rows = group.num_rows if group is not None else 1
        self._writer: Any = parquet.ParquetWriter(target, schema, compression="none" if packing == "uncompressed" else packing)

    def _full(self) -> None:
        if self._rows >= self._group_rows or self._bytes >= _ROW_GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            rows = self._rows
            self._writer.write_table(self._taken(), row_group_size=max(rows, 1))

    def _end(self) -> None:
        try:
            self._flush()
        finally:
            self._writer.close()


class ArrowMirror(_TableMirror):
    """Writes an Arrow file of the same kind, stream or indexed, with record batches of the same numbers of rows."""

    def __init__(self, file: InputFile, target: Path) -> None:
        super().__init__(file, target)
        ipc = import_module("pyarrow.ipc")
        with ArrowFile(file.path, file.name) as source:
            self._sizes = source.batch_sizes()[::-1]
            make = ipc.new_file if source.indexed else ipc.new_stream
            self._sink = self._pyarrow.OSFile(str(target), "wb")
            self._writer: Any = make(self._sink, source.schema_arrow)

    def _full(self) -> None:
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

    def _end(self) -> None:
        try:
            if self._waiting:
                self._writer.write_table(self._taken().combine_chunks())
        finally:
            self._writer.close()
            self._sink.close()


_BLOCK: Final = 1 << 20


class _FileMirror(Protocol):
    def write(self, part: Part, data: bytes) -> None: ...

    def close(self) -> None: ...


class MirrorFolder:
    """Writes the mirror to the new *folder*, from the parts of all files in input order.

    Members of an archive go to an archive of the same name. *archives* has the path of each input archive by name.
    """

    def __init__(self, folder: Path, archives: dict[str, Path]) -> None:
        self._folder = folder
        self._archives = archives
        self._file: InputFile | None = None
        self._mirror: _FileMirror | None = None
        self._zip: _ZipMirror | None = None
        folder.mkdir()

    def write(self, part: Part, data: bytes) -> None:
        """Add *data*, the result of ``Parsed.mirrored`` for *part*."""
        if self._file is None or part.file.number != self._file.number:
            self._begin(part.file)
        if self._mirror is not None:
            self._mirror.write(part, data)

    def _begin(self, file: InputFile) -> None:
        self._end()
        if self._zip is not None and self._zip.name != file.archive:
            self._zip.close()
            self._zip = None
        self._file = file
        if file.archive and self._zip is None:
            target = self._folder / file.archive
            target.parent.mkdir(parents=True, exist_ok=True)
            self._zip = _ZipMirror(file.archive, self._archives[file.archive], target)
        if self._zip is not None:
            self._mirror = self._zip.member(file, self._folder)
            return
        target = self._folder / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        self._mirror = _open(file, target)

    def _end(self) -> None:
        mirror, self._mirror = self._mirror, None
        if mirror is not None:
            mirror.close()

    def close(self) -> None:
        """Finish the last file."""
        self._end()
        if self._zip is not None:
            self._zip.close()
            self._zip = None

    def abandon(self) -> None:
        """Close all open files and ignore errors. Called when the run ends; after a failure the mirror is not used."""
        for open_one in (self._mirror, self._zip):
            if open_one is not None:
                with suppress(Exception):  # the error that stopped the run must not be replaced by another
                    open_one.close()
        self._mirror = self._zip = None


class _TextMirror:
    def __init__(self, file: InputFile, fh: IO[bytes]) -> None:
        self._fh = fh
        self._encoder = MirrorEncoder(file) if file.encoding != "utf-8" else None
        if self._encoder is not None:
            fh.write(file.bom)

    def write(self, part: Part, data: bytes) -> None:
        del part
        self._fh.write(self._encoder.encode(data) if self._encoder is not None else data)

    def close(self) -> None:
        try:
            if self._encoder is not None:
                self._fh.write(self._encoder.encode(b"", last=True))
        finally:
            self._fh.close()


class _ZipMirror:
    """Writes an archive with the members of the input archive that were read, in the same order and with the same compression."""

    def __init__(self, name: str, source: Path, target: Path) -> None:
        self.name = name
        with zipfile.ZipFile(source) as archive:
            self._infos = {f"{name}/{info.filename}": info for info in archive.infolist()}
        self._archive = zipfile.ZipFile(target, "x")

    def member(self, file: InputFile, folder: Path) -> _FileMirror:
        info = self.info(file.name)
        if isinstance(file.layout, ParquetLayout | BratLayout):
            return _Packed(file, folder / ".members", self)
        return _TextMirror(file, self._archive.open(info, "w", force_zip64=True))

    def info(self, name: str) -> zipfile.ZipInfo:
        known = self._infos[name]
        info = zipfile.ZipInfo(known.filename, known.date_time)
        info.compress_type = known.compress_type
        info.external_attr, info.create_system, info.comment = known.external_attr, known.create_system, known.comment
        return info

    def add(self, name: str, path: Path) -> None:
        """Add the file at *path* as the member *name* of the input."""
        with path.open("rb") as source, self._archive.open(self.info(name), "w", force_zip64=True) as out:
            shutil.copyfileobj(source, out, _BLOCK)

    def close(self) -> None:
        self._archive.close()


class _Packed:
    """Writes members of an archive that cannot be streamed into it. They are files in the new folder *folder* first."""

    def __init__(self, file: InputFile, folder: Path, archive: _ZipMirror) -> None:
        folder.mkdir()
        self._folder, self._archive = folder, archive
        self._files = {file.name: folder / "0"}
        if isinstance(file.layout, BratLayout):
            self._files[file.layout.name] = folder / "0.ann"
        self._mirror = _open(file, folder / "0")

    def write(self, part: Part, data: bytes) -> None:
        self._mirror.write(part, data)

    def close(self) -> None:
        self._mirror.close()
        for name, path in self._files.items():
            self._archive.add(name, path)
        shutil.rmtree(self._folder)


def _open(file: InputFile, target: Path) -> _FileMirror:
    """Return what writes the mirror of *file* to *target*."""
    if isinstance(file.layout, ParquetLayout):
        return (ArrowMirror if file.format == "arrow" else ParquetMirror)(file, target)
    text = _TextMirror(file, target.open("xb"))
    return _BratMirror(file, text, target) if isinstance(file.layout, BratLayout) else text


class _BratMirror:
    """Writes a text and, beside it, its annotations; both in the encoding of the text."""

    def __init__(self, file: InputFile, text: _TextMirror, target: Path) -> None:
        self._text = text
        self._annotations = _TextMirror(file._replace(bom=b""), target.with_suffix(SUFFIX).open("xb"))

    def write(self, part: Part, data: bytes) -> None:
        text, annotations = marshal.loads(data)  # noqa: S302 - written by ``BratParsed.mirrored`` a moment ago
        self._text.write(part, text)
        self._annotations.write(part, annotations)

    def close(self) -> None:
        self._text.close()
        self._annotations.close()
