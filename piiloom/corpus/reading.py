"""The settings of reading a file of records, and the records of a file or of an export, without a store."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import field_validator

from piiloom.corpus.formats.base import (
    ReadOptions,
    read_records,
)
from piiloom.corpus.formats.columns import check_columns, parse_columns
from piiloom.corpus.formats.registry import READABLE, get_readable_format
from piiloom.corpus.record import Record
from piiloom.corpus.releases.manifest import MANIFEST, read_manifest, types_beside
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.settings import Converted, OptionalPath, Settings, setting
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.label_maps import label_map, maps_for
from piiloom.taxonomy.locales import resolve_locale
from piiloom.taxonomy.own_types import OwnTypes, extended
from piiloom.taxonomy.own_types_file import read_types_file

INPUT_FORMATS: Final = f"Format of the file: {', '.join(READABLE)}."


class ReadingSettings(Settings):
    """The settings of reading a file of records."""

    locale: str = setting("en_US", "Locale of rows that name none, such as nl_NL; piiloom locales list shows all.")
    columns: Converted[Mapping[str, str], Mapping[str, str] | str | None] = setting(
        {},
        "Columns of a table by field: context (the text), question, id, locale, as in context=body,question=q; also those of spans "
        "(docs/exports.md).",
        metavar="FIELD=COLUMN,…",
    )
    label_map: Converted[str | None, str | Path | None] = setting(
        None, "Types of the file's labels: a shipped map or a YAML file.", metavar="NAME|FILE"
    )
    types: OptionalPath = setting(None, "Your own entity types (docs/own-types.md).", metavar="FILE")

    @field_validator("columns", mode="before")
    @classmethod
    def _parsed(cls, columns: Any) -> Any:
        return parse_columns(columns) if isinstance(columns, str) else columns or {}

    @field_validator("label_map", mode="before")
    @classmethod
    def _named(cls, name: Any) -> Any:
        return str(name) if isinstance(name, Path) else name

    def own_types(self, file: Path) -> OwnTypes:
        """Return the own types of the types file, or else of the export that *file* belongs to."""
        return types_beside(file) if self.types is None else read_types_file(self.types)

    def options(self, taxonomy: Taxonomy, *, skip_values: bool = False, blank_contexts: bool = False) -> ReadOptions:
        """Return the options for a reader of labels of *taxonomy*."""
        return ReadOptions(
            taxonomy=taxonomy,
            locale=resolve_locale(self.locale),
            skip_values=skip_values,
            blank_contexts=blank_contexts,
            columns=self.columns,
            label_map={} if self.label_map is None else label_map(self.label_map, taxonomy),
        )


class LoadSettings(ReadingSettings):
    """The settings of loading records without a store. ``input_format`` None: native, or the format of an export."""

    split: str | None = setting(None, "Only this split of an exported folder.")
    input_format: str | None = setting(None, INPUT_FORMATS)


def load_records(source: Path, asked: LoadSettings) -> list[Record]:
    """Return the records of a file, or of an exported folder: all its splits, or only one. See ``piiloom.load``."""
    if not source.exists():
        raise DataError("there is no such file or folder", where=str(source), remedy="Give a native JSONL file or an exported folder")
    if source.is_file() or (asked.input_format is not None and not (source / MANIFEST).exists()):
        if asked.split is not None:
            raise UsageError("a split can be chosen in a folder only", where=str(source), remedy="Give the folder of the export")
        return _load_file(source, asked, asked.input_format or "native")
    exported, files = _exported(source)
    if asked.input_format not in {None, exported}:
        raise UsageError(f"the export is {exported}, not {asked.input_format}", where=str(source), remedy="Leave the format out")
    if asked.split is not None and asked.split not in files:
        raise UsageError(f"there is no split {asked.split!r}", where=str(source), remedy=f"It has: {', '.join(files) or 'none'}")
    chosen = [name for part, name in files.items() if asked.split in (None, part)]
    return [record for name in chosen for record in _load_file(source / name, asked, exported)]


def _load_file(source: Path, asked: LoadSettings, file_format: str) -> list[Record]:
    """Read one file, or a folder of a format of folders, with its own types."""
    options = asked.options(extended(asked.own_types(source)), blank_contexts=True)
    chosen = get_readable_format(file_format)
    check_columns(chosen, asked.columns)
    return list(read_records(chosen, source, options))


def _exported(folder: Path) -> tuple[str, dict[str, str]]:
    """Return the format of an export, and its files by split."""
    about: dict[str, Any] = read_manifest(folder / MANIFEST)
    try:
        files = {described["split"]: name for name, described in about["files"].items() if described["split"] is not None}
        return get_readable_format(about["format"]).name, files
    except (KeyError, TypeError, AttributeError):
        remedy = "Export the release again"
        raise DataError("the description of the export is damaged", where=str(folder / MANIFEST), remedy=remedy) from None


def with_counts(labels: Mapping[str, int]) -> str:
    """Return all *labels* with their counts, the most frequent first."""
    return ", ".join(f"{label} {count:,}" for label, count in sorted(labels.items(), key=lambda one: (-one[1], one[0])))


def label_remedy(labels: Collection[str]) -> str:
    """Return what can be done about *labels* that name no known type, with the shipped label maps that have them."""
    fitting = ", ".join(f"{name} has {count} of {len(labels)}" for name, count in maps_for(labels).items())
    shipped = f"; of the shipped maps, {fitting}" if fitting else ""
    return f"Say what the labels mean with --label-map FILE, a line a label{shipped}. Or define types of your own with --types FILE"
