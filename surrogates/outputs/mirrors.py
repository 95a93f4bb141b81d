"""Write the mirror: the input's files in their own formats and encodings, with surrogates in them."""

from __future__ import annotations

import zipfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol

from piiloom.surrogates.inputs.decoding import MirrorEncoder
from piiloom.surrogates.inputs.parquet_files import RowCursor, arrow_modules, changed_table, open_parquet
from piiloom.surrogates.inputs.parts import InputFile, ParquetLayout, Part

_ROW_GROUP_BYTES = 64 * 2**20


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
        self._mirror = _ParquetMirror(file, target) if file.format == "parquet" else _TextMirror(file, target.open("xb"))

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
        known = self._infos[file.name]
        info = zipfile.ZipInfo(known.filename, known.date_time)
        info.compress_type = known.compress_type
        info.external_attr, info.create_system, info.comment = known.external_attr, known.create_system, known.comment
        if file.format == "parquet":
            return _PackedParquet(file, folder / ".member.parquet", self._archive, info)
        return _TextMirror(file, self._archive.open(info, "w", force_zip64=True))

    def close(self) -> None:
        self._archive.close()


class _ParquetMirror:
    """Writes a Parquet file with the same schema, metadata and compression, and row groups of about the same size.

    If no cell has changed, the result is a byte-for-byte copy of the input file.
    """

    def __init__(self, file: InputFile, target: Path) -> None:
        self._file, self._target = file, target
        pyarrow, parquet = arrow_modules()
        self._concat = pyarrow.concat_tables
        with open_parquet(file.path, file.name) as source:
            schema, meta = source.schema_arrow, source.metadata
            group = meta.row_group(0) if meta.num_row_groups else None
            packing = group.column(0).compression.lower() if group is not None and group.num_columns else "snappy"
            self._group_rows = group.num_rows if group is not None else 1
        self._writer: Any = parquet.ParquetWriter(target, schema, compression="none" if packing == "uncompressed" else packing)
        layout = file.layout
        assert isinstance(layout, ParquetLayout)  # noqa: S101 - a Parquet file has one
        self._cursor = RowCursor(file.path, file.name, None, layout.batch)
        self._waiting: list[Any] = []
        self._rows = self._bytes = 0
        self._changed = False

    def write(self, part: Part, data: bytes) -> None:
        if part.end == part.start:
            return
        table = changed_table(self._cursor.take(part.start, part.end), data)
        self._changed = self._changed or bool(data)
        self._waiting.append(table)
        self._rows += table.num_rows
        self._bytes += table.nbytes
        if self._rows >= self._group_rows or self._bytes >= _ROW_GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(self._concat(self._waiting), row_group_size=max(self._rows, 1))
        self._waiting, self._rows, self._bytes = [], 0, 0

    def close(self) -> None:
        try:
            self._flush()
        finally:
            self._writer.close()
            self._cursor.close()
        if not self._changed:  # nothing was replaced: copy the input file
            with self._file.path.open("rb") as source, self._target.open("wb") as out:
                while block := source.read(1 << 20):
                    out.write(block)


class _PackedParquet(_ParquetMirror):
    """Writes a Parquet member of an archive. The file *target* is written first, as ``close`` may still replace it with a copy."""

    def __init__(self, file: InputFile, target: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        super().__init__(file, target)
        self._archive, self._info = archive, info

    def close(self) -> None:
        super().close()
        with self._target.open("rb") as source, self._archive.open(self._info, "w", force_zip64=True) as out:
            while block := source.read(1 << 20):
                out.write(block)
        self._target.unlink()
