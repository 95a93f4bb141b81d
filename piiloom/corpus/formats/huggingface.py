"""A folder for Hugging Face ``datasets``: a Parquet file a split, a dataset card and ``croissant.json``; no script.

The rows are those of the Parquet format, so nothing is lost. ``type`` and ``relevance`` are class labels, whose names are in the schema of
each file and in the card.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from piiloom.corpus.formats.arrow_rows import parquet_size, write_parquet
from piiloom.corpus.formats.base import Json, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.class_labels import dataset_info
from piiloom.corpus.formats.croissant import croissant_json
from piiloom.corpus.formats.dataset_card import card_text
from piiloom.corpus.formats.parquet import ParquetFormat
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.record import Record
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import Taxonomy

_CARD = "README.md"
_CROISSANT = "croissant.json"


class HuggingFaceFormat(NativeShapedFormat):
    """The format of Hugging Face ``datasets``; see the module docstring."""

    name = "huggingface"
    suffix = ".parquet"
    column_fields = ParquetFormat.column_fields

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the rows of *path*, the file of one split, see ``NativeShapedFormat``."""
        if path.is_dir():
            names = ", ".join(sorted(file.name for file in path.glob("*.parquet"))) or "none"
            raise DataError("this is a folder", where=str(path), remedy=f"Name the file of one split; there are: {names}")
        return ParquetFormat().read_with(path, options, tally, make)

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write one row per record; nothing is lost. Raises ``DataError`` for a type that is not in ``options.taxonomy``."""
        write_parquet(records, path, list(options.taxonomy.types))
        return LossReport()

    def write_extras(self, folder: Path, about: Json, taxonomy: Taxonomy) -> Sequence[str]:
        """Write the dataset card and ``croissant.json``."""
        splits: Any = about["splits"]
        info = dataset_info(list(taxonomy.types), {split: parquet_size(folder / f"{split}{self.suffix}") for split in splits})
        (folder / _CARD).write_text(card_text(about, info, taxonomy), encoding="utf-8", newline="\n")
        text = json.dumps(croissant_json(folder, about, taxonomy), ensure_ascii=False, indent=2) + "\n"
        (folder / _CROISSANT).write_text(text, encoding="utf-8", newline="\n")
        return (_CARD, _CROISSANT)
