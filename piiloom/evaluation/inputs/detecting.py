"""Find out in which format a file is, where none is named: by its suffix, then by its first row.

Native rows have ``context`` and ``spans``, CAPID rows ``context`` and ``piis``, tasks of Label Studio ``data`` and ``annotations``, and
rows of other tools a shape that ``piiloom.corpus.formats.columns`` knows, or the columns that are named; the columns of a table tell an
entity table from one of records. All other formats have to be named.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.columns import check_columns, has_shape, shape_of
from piiloom.corpus.formats.native_rows import RowFault, array_rows, numbered_lines
from piiloom.corpus.formats.registry import READABLE, get_readable_format, object_in
from piiloom.evaluation.inputs.entity_tables import COLUMNS, is_entity_table, table_header
from piiloom.foundation.errors import DataError, UsageError

TABLE = "table"
# The files of the Text Anonymization Benchmark; they have to be named.
TAB = "tab"
_BY_SUFFIX = {".spacy": "spacy", ".conll": "conll"}
_TABLES = {".parquet": "parquet", ".csv": "csv", ".tsv": TABLE}
_SHOWN = 12
# Fields of which one at least is named where a file is read by named columns.
_TEXTS = {"context", "tokens", "tags"}


def checked_format(name: str) -> str:
    """Return *name* if it is a format that can be read; raises ``UsageError``, listing those, if not."""
    return name if name == TABLE else get_readable_format(name).name


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
        others = "document" not in {*header, *columns} and has_shape(dict.fromkeys(header))
        records = {"context", "spans"} <= set(header) or others or bool(_TEXTS & columns.keys())
        return _TABLES[path.suffix] if records and not is_entity_table(header, columns) else TABLE
    return _of_json(path, columns)


def columns_of(path: Path, file_format: str, columns: Mapping[str, str], *, stated: bool) -> dict[str, str]:
    """Return those of *columns* by which *path* is read; *stated*: the format was named and not found out.

    The columns hold for both sides, and a file whose rows have their own names needs none. Raises ``UsageError`` if a format that was
    named does not read a field from a column of any name.
    """
    fields = {name: column for name, column in columns.items() if name not in COLUMNS}
    if file_format == TABLE or not fields:
        return {}
    if stated:
        check_columns(READABLE[file_format], fields)
        return fields
    if file_format not in {"bio", "json", "native", *_TABLES.values()}:
        return {}
    first = dict.fromkeys(table_header(path)) if path.suffix in _TABLES else _first_row(path)
    return fields if _has_named(first, fields) else {}


def _has_named(row: Json, columns: Mapping[str, str]) -> bool:
    return any(columns[name].partition(".")[0] in row or columns[name] in row for name in _TEXTS & columns.keys())


def is_array(path: Path) -> bool:
    """Whether the content of *path* begins as a JSON array. Raises ``DataError`` if it holds nothing but blanks."""
    first = next(numbered_lines(path), None)
    if first is None:
        raise DataError("the file is empty", where=str(path), remedy="Give a file with at least one document")
    return first[1].lstrip().startswith("[")


def _first_row(path: Path) -> Json:
    try:
        return object_in(next(array_rows(path) if is_array(path) else numbered_lines(path), (1, "{}"))[1])
    except RowFault as fault:
        raise _unknown(path, f"its first row is {fault}" if str(fault).startswith("not") else str(fault)) from fault


def _of_json(path: Path, columns: Mapping[str, str]) -> str:
    row = _first_row(path)
    if "context" in row and "piis" in row:
        return "capid"
    if "context" in row and "spans" in row:
        return "json" if is_array(path) else "native"
    if "full_text" in row and "spans" in row:
        return "presidio"
    if isinstance(row.get("data"), dict) and ("annotations" in row or "completions" in row):
        return "label-studio"
    try:
        shape, named = shape_of(row), _has_named(row, columns)
    except RowFault as fault:
        raise _unknown(path, str(fault)) from fault
    if shape or named:
        return "bio" if "tags" in (columns if named else shape) else "json"
    raise _unknown(path, f"its first row has {_keys(row)}")


def _keys(row: Json) -> str:
    shown = [repr(key) for key in list(row)[:_SHOWN]]
    return ("the keys " + ", ".join(shown) + (" …" if len(row) > _SHOWN else "")) if shown else "no keys"


def _unknown(path: Path, why: str) -> UsageError:
    known = (*(name for name in READABLE if name != TAB), TABLE, TAB)
    return UsageError(f"the format cannot be told: {why}", where=str(path), remedy=f"Name it: {', '.join(known)}")
