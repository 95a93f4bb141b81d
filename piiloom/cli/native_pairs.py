"""Pairs of native files, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from piiloom.corpus.formats.base import read_records
from piiloom.corpus.formats.registry import get_readable_format
from piiloom.corpus.record import Record
from piiloom.evaluation.inputs.documents import Document, Mention, Pair
from piiloom.foundation.errors import DataError


def open_native_pairs(gold: Path, found: Path) -> Iterator[Pair]:
    """Yield the documents of two native files in their order; raises ``DataError`` where their texts differ."""
    for path in (gold, found):
        if not path.is_file():
            raise DataError("there is no such file", where=str(path), remedy="Check the path")
    native = get_readable_format("native")
    for number, (one, other) in enumerate(zip_longest(read_records(native, gold), read_records(native, found)), start=1):
        if one is None or other is None or one.context != other.context:
            raise DataError(f"not the text of {gold.name}:{number}", where=f"{found}:{number}", remedy="Give predictions for the gold file")
        yield Pair(gold=_document(one, gold, number), found=_document(other, found, number))


def _document(record: Record, path: Path, number: int) -> Document:
    return Document(
        where=f"{path.name}:{number}",
        id=record.id,
        text=record.context,
        locale=record.locale,
        group_keys=record.group_keys,
        mentions=tuple(
            Mention(text=record.context[span.start : span.end], entity_type=span.entity_type, start=span.start, end=span.end)
            for span in record.spans
        ),
    )
