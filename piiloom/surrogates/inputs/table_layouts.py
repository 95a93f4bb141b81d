"""Find a table's layout: its delimiter, whether fields are quoted, and which columns hold texts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from piiloom.foundation.errors import UsageError
from piiloom.surrogates.inputs.parts import WHOLE_TABLE, InputSettings, TableLayout, no_column, shown
from piiloom.surrogates.inputs.tables import quotes_fit, rows_of

_HEAD: Final = 1 << 20
_DELIMITERS: Final = ",;\t|"
OF_FILE: Final = "file"  # ``group_by`` of a table that is one document, unless there is a column of that name


def table_layout(path: Path, name: str, file_format: str, settings: InputSettings) -> TableLayout:
    """Return the layout of the table at *path* (UTF-8).

    Raises ``UsageError`` with the table's columns if there is no text column, or if a named column is missing or ambiguous.
    """
    with path.open("rb") as fh:
        head = fh.read(_HEAD).decode("utf-8-sig", "replace")
        delimiter = settings.delimiter or _delimiter(head, file_format)
        quoted = settings.quoting != "none"
        if settings.quoting == "auto" and delimiter == "\t":
            fh.seek(0)
            quoted = quotes_fit(fh, name, delimiter)
    try:
        first = next(rows_of(head, TableLayout(delimiter, quoted, (), None, head=False)), [])
    except ValueError:
        first = []
    names = [cell.value.strip() for cell in first]
    columns = _text_columns(names, name, settings)
    question = _named_column(names, settings.question_field, name, settings, "--question-field")
    if question in {column for _, column in columns}:
        raise UsageError("text and question are the same column", where="--question-field")
    ids = _id_column(names, name, settings)
    group, speaker = _group_column(names, name, settings), _named_column(names, settings.speaker_field, name, settings, "--speaker-field")
    return TableLayout(delimiter, quoted, columns, ids, head=settings.header, question=question, group=group, speaker=speaker)


def _delimiter(head: str, file_format: str) -> str:
    if file_format == "tsv":
        return "\t"
    line = head.partition("\n")[0]
    outside = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)  # the first one wins a tie: a comma


def _text_columns(names: list[str], where: str, settings: InputSettings) -> tuple[tuple[str, int], ...]:
    wanted = settings.text_fields or tuple(key for key in ("text", "context") if settings.header and key in names)[:1]
    found = [(field, column) for field in wanted if (column := _column(names, field, where, settings)) is not None]
    missing = [field for field in wanted if field not in dict(found)]
    if missing and (not found or _is_all(where, settings)):
        raise no_column(where, missing[0], names, "--text-field")
    if not found:
        there = shown(names) if settings.header else f"columns 1 to {len(names)}"
        raise UsageError(f"no text column is named; the table has: {there}", where=where, remedy="Name one with --text-field")
    if len({column for _, column in found}) < len(found):
        raise UsageError("two names are the same column", where="--text-field")
    return tuple(sorted(found, key=lambda one: one[1]))


def _is_all(name: str, settings: InputSettings) -> bool:
    """Whether the table is the only file of the input, so that no other file can have a missing field."""
    return settings.path.is_file() and name == settings.path.name


def _column(names: list[str], field: str, where: str, settings: InputSettings) -> int | None:
    if settings.header and names.count(field) == 1:
        return names.index(field)
    if settings.header and field in names:
        raise UsageError(f"two columns are called {field!r}", where=where, remedy="Give the column's number to --text-field")
    if field.isdecimal() and 1 <= int(field) <= len(names):
        return int(field) - 1
    if not settings.header:
        raise UsageError(f"there is no column {field!r}", where=where, remedy=f"Without a header give a number from 1 to {len(names)}")
    return None


def _named_column(names: list[str], field: str | None, where: str, settings: InputSettings, option: str) -> int | None:
    found = None if field is None else _column(names, field, where, settings)
    if field is not None and found is None:
        raise no_column(where, field, names, option)
    return found


def _group_column(names: list[str], where: str, settings: InputSettings) -> int | None:
    if settings.group_by == OF_FILE and (not settings.header or OF_FILE not in names):
        return WHOLE_TABLE
    return _named_column(names, settings.group_by, where, settings, "--group-by")


def _id_column(names: list[str], where: str, settings: InputSettings) -> int | None:
    if settings.id_field is not None:
        return _named_column(names, settings.id_field, where, settings, "--id-field")
    if not settings.header:
        return None
    return next((column for column, name in enumerate(names) if name.lower() == "id"), None)
