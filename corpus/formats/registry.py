"""The formats by name."""

from __future__ import annotations

from piiloom.corpus.formats.base import Format, ReadableFormat
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.formats.comma_separated import CommaSeparatedFormat
from piiloom.corpus.formats.huggingface import HuggingFaceFormat
from piiloom.corpus.formats.json_objects import JsonFormat
from piiloom.corpus.formats.native import NativeFormat
from piiloom.corpus.formats.parquet import ParquetFormat
from piiloom.foundation.errors import UsageError

_ALL: tuple[Format, ...] = (
    NativeFormat(),
    CapidFormat(),
    JsonFormat(),
    CommaSeparatedFormat(),
    ParquetFormat(),
    HuggingFaceFormat(),
)
FORMATS: dict[str, Format] = {file_format.name: file_format for file_format in _ALL}


def get_format(name: str) -> Format:
    """Return the format called *name*; raises ``UsageError``, listing the known ones, if there is none."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UsageError(f"unknown format {name!r}", remedy=f"Known formats: {', '.join(FORMATS)}") from None


def get_readable_format(name: str) -> ReadableFormat:
    """Return the format called *name*; raises ``UsageError`` if there is none or piiloom cannot read it."""
    found = get_format(name)
    if not isinstance(found, ReadableFormat):
        known = ", ".join(known for known, each in FORMATS.items() if isinstance(each, ReadableFormat))
        raise UsageError(f"the format {name!r} cannot be read", remedy=f"Formats that can: {known}")
    return found
