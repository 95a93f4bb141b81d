"""Read a usage file: how many tokens each call for a document took, as whoever made the predictions noted it.

JSONL with an object a line, or CSV with a header (by the suffix ``.csv``). ``document``, ``model``, ``input_tokens`` and
``output_tokens`` are required, ``cached_tokens`` (or ``cached``) and ``provider`` are not; other columns are ignored. ``input_tokens``
includes the cached ones. A document may have several rows: one for each call.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from piiloom.corpus.formats.native_rows import RowFault, numbered_lines, parse_object
from piiloom.foundation.errors import DataError
from piiloom.providers.protocol import TokenUsage

_REMEDY: Final = 'Write for example {"document": "d1", "model": "gpt-6-luna", "input_tokens": 812, "output_tokens": 95}'
_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """One call for one document; ``provider`` is None if the file does not say it."""

    document: str
    model: str
    usage: TokenUsage
    provider: str | None = None


def read_usage(path: Path) -> Iterator[UsageRow]:
    """Yield the rows of *path*. Raises ``DataError``, naming file, line and field, for anything that is no usage, and for an empty file."""
    number = 0
    for number, row in _csv_rows(path) if path.suffix.lower() == ".csv" else _json_rows(path):
        try:
            yield _usage_row(row)
        except RowFault as fault:
            raise DataError(str(fault), where=f"{path.name}:{number}", remedy=_REMEDY) from fault
    if not number:
        raise DataError("the usage file has no rows", where=str(path), remedy=_REMEDY)


def _json_rows(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    for number, line in numbered_lines(path):
        try:
            yield number, parse_object(line)
        except RowFault as fault:
            raise DataError(str(fault), where=f"{path.name}:{number}", remedy=_REMEDY) from fault


def _csv_rows(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield (last line, cells by column) for each row. An empty cell counts as absent."""
    rows = csv.reader((line + "\n" for _, line in numbered_lines(path)), strict=True)
    try:
        header = next(rows, [])
        if header:
            header[0] = header[0].removeprefix(_BOM)
        for cells in rows:
            if len(cells) != len(header):
                problem = f"the row has {len(cells)} cells, the header {len(header)}"
                raise DataError(problem, where=f"{path.name}:{rows.line_num}", remedy="Correct the row")
            yield rows.line_num, {name.strip(): cell for name, cell in zip(header, cells, strict=True) if cell.strip()}
    except csv.Error as error:
        raise DataError(f"not a row of a CSV table ({error})", where=f"{path.name}:{rows.line_num}", remedy="Correct the row") from error


def _usage_row(row: Mapping[str, object]) -> UsageRow:
    document = row.get("document")
    given = _tokens(row, "input_tokens", required=True)
    cached = _tokens(row, "cached_tokens" if "cached_tokens" in row else "cached", required=False)
    if cached > given:
        raise RowFault("cached_tokens: more than input_tokens, which includes them")
    usage = TokenUsage(input=given, cached=cached, output=_tokens(row, "output_tokens", required=True))
    provider = None if row.get("provider") is None else _name(row, "provider")
    if type(document) is int:
        document = str(document)
    if not isinstance(document, str) or not document:
        raise RowFault("document: not an id")
    return UsageRow(document=document, model=_name(row, "model"), usage=usage, provider=provider)


def _name(row: Mapping[str, object], field: str) -> str:
    value = row.get(field)
    if not isinstance(value, str) or not value.strip():
        raise RowFault(f"{field}: not a name")
    return value.strip()


def _tokens(row: Mapping[str, object], field: str, *, required: bool) -> int:
    value = row.get(field)
    if value is None and not required:
        return 0
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value)
    if type(value) is int and value >= 0:
        return value
    raise RowFault(f"{field}: not a number of tokens (a whole number, 0 or more)")
