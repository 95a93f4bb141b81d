"""The formats by name."""

from __future__ import annotations

from piiloom.corpus.formats.base import Format
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.formats.native import NativeFormat
from piiloom.foundation.errors import UsageError

FORMATS: dict[str, Format] = {file_format.name: file_format for file_format in (NativeFormat(), CapidFormat())}


def get_format(name: str) -> Format:
    """Return the format called *name*; raises ``UsageError``, listing the known ones, if there is none."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UsageError(f"unknown format {name!r}", remedy=f"Known formats: {', '.join(FORMATS)}") from None
