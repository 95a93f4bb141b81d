"""Find out in which format a file is, where none is named: by its suffix, then by its first row.

Native rows have ``context`` and ``spans``, CAPID rows ``context`` and ``piis``; the columns of a table tell an entity table from one of
records. All other formats have to be named.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.json_rows import RowFault, array_rows, numbered_lines, parse_object
from piiloom.corpus.formats.registry import FORMATS, get_readable_format
from piiloom.evaluation.inputs.entity_tables import is_entity_table, table_header
from piiloom.foundation.errors import DataError, UsageError

TABLE = "table"
# The files of the Text Anonymization Benchmark; they have to be named.
TAB = "tab"
_BY_SUFFIX = {".spacy": "spacy", ".conll": "conll"}
_TABLES = {".parquet": "parquet", ".csv": "csv", ".tsv": TABLE}
_SHOWN = 12


def checked_format(name: str) -> str:
    """Return *name* if it is a format that can be read; raises ``UsageError``, listing those, if not."""
    if name not in (TABLE, TAB) and name not in FORMATS:
        raise UsageError(f"unknown format {name!r}", remedy=f"Known formats: {', '.join((*FORMATS, TABLE, TAB))}")
    return name if name in (TABLE, TAB) else get_readable_format(name).name


def find_format(path: Path, columns: Mapping[str, str]) -> str:
    """Return the format of *path*: a name of the registry, or ``TABLE``. *columns*: see ``--columns``.

    Raises ``DataError`` if the file cannot be read or is empty, and ``UsageError`` if its format has to be named.
    """
    if path.is_dir():
        if any(path.rglob("*.ann")):
            return "brat"
        files = ", ".join(sorted(one.name for one in path.iterdir() if one.is_file())[:_SHOWN]) or "none"
        raise UsageError("this is a folder without .ann files", where=str(path), remedy=f"Name one file of it; there are: {files}")
    if path.suffix in _BY_SUFFIX:
        return _BY_SUFFIX[path.suffix]
    if path.suffix in _TABLES:
        header = table_header(path)
        records = {"context", "spans"} <= set(header) or "context" in columns
        return _TABLES[path.suffix] if records and not is_entity_table(header, columns) else TABLE
    return _of_json(path)


def is_array(path: Path) -> bool:
    """Whether the content of *path* begins as a JSON array. Raises ``DataError`` if it holds nothing but blanks."""
    first = next(numbered_lines(path), None)
    if first is None:
        raise DataError("the file is empty", where=str(path), remedy="Give a file with at least one document")
    return first[1].lstrip().startswith("[")


def _of_json(path: Path) -> str:
    array = is_array(path)
    rows = array_rows(path) if array else numbered_lines(path)
    try:
        row = parse_object(next(rows, (1, "{}"))[1])
    except RowFault as fault:
        raise _unknown(path, f"its first row is {fault}" if str(fault).startswith("not") else str(fault)) from fault
    if "context" in row and "piis" in row:
        return "capid"
    if "context" in row and "spans" in row:
        return "json" if array else "native"
    raise _unknown(path, f"its first row has {_keys(row)}")


def _keys(row: Json) -> str:
    shown = [repr(key) for key in list(row)[:_SHOWN]]
    return ("the keys " + ", ".join(shown) + (" …" if len(row) > _SHOWN else "")) if shown else "no keys"


def _unknown(path: Path, why: str) -> UsageError:
    readable = ", ".join(name for name, each in FORMATS.items() if hasattr(each, "read"))
    return UsageError(f"the format cannot be told: {why}", where=str(path), remedy=f"Name it: {readable}, {TABLE}, {TAB}")
