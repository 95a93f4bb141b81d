"""Arrow files, of which Hugging Face datasets saved to disk consist: streams of record batches, or files with an index (Feather).

Such a folder also holds small JSON files about it (``state.json`` …), which say nothing of the texts and are carried over to the mirror.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Self

from piiloom.foundation.errors import DataError

_MAGIC: Final = b"ARROW1"
_STATE_KEYS: Final = {"state.json": "_data_files", "dataset_info.json": "features", "dataset_dict.json": "splits"}
_MOST_STATE: Final = 64 * 2**20


def is_about_dataset(name: str, path: Path) -> bool:
    """Whether the JSON file *name* (read from *path*) is one that ``datasets`` writes about a dataset, and no data."""
    last = name.rpartition("/")[2]
    if last == "dataset_infos.json":
        return True
    key = _STATE_KEYS.get(last)
    if key is None or path.stat().st_size > _MOST_STATE:
        return False
    try:
        told = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and key in told


class ArrowFile:
    """An Arrow file, open for reading batch by batch; has what of a ``pyarrow.parquet.ParquetFile`` is used.

    Raises ``DataError`` if it is damaged or no Arrow file.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._pyarrow, self._ipc = import_module("pyarrow"), import_module("pyarrow.ipc")
        self._name = name
        self.indexed = _is_indexed(path)
        try:
            self._fh = self._pyarrow.OSFile(str(path), "rb")
            self._reader = self._ipc.open_file(self._fh) if self.indexed else self._ipc.open_stream(self._fh)
        except (self._pyarrow.ArrowException, OSError) as error:
            raise DataError("the file is no Arrow file, or is damaged", where=name, remedy="Check the file") from error
        self.schema_arrow = self._reader.schema

    def iter_batches(self, *, columns: Sequence[str] | None, **_: object) -> Iterator[Any]:
        """Yield the record batches as they are in the file, of all or some *columns*."""
        for batch in self._batches():
            yield batch if columns is None else batch.select(list(columns))

    def _batches(self) -> Iterator[Any]:
        if self.indexed:
            yield from (self._reader.get_batch(number) for number in range(self._reader.num_record_batches))
        else:
            yield from self._reader

    def batch_sizes(self) -> list[int]:
        """Return the number of rows of each batch; reads the file."""
        try:
            return [batch.num_rows for batch in self._batches()]
        except (self._pyarrow.ArrowException, OSError) as error:
            raise DataError("the Arrow file is damaged", where=self._name, remedy="Check the file") from error

    def close(self) -> None:
        """Close the file."""
        self._fh.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_indexed(path: Path) -> bool:
    with path.open("rb") as fh:
        return fh.read(len(_MAGIC)) == _MAGIC
