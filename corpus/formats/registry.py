"""The formats by name."""

from __future__ import annotations

from piiloom.corpus.formats.base import Format, ReadableFormat
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.formats.masked import MaskedFormat
from piiloom.corpus.formats.native import NativeFormat
from piiloom.foundation.errors import UsageError

FORMATS: dict[str, Format] = {file_format.name: file_format for file_format in (NativeFormat(), CapidFormat(), MaskedFormat())}


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
