"""``piiloom import``: records from a file into the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.terminal import examples, harmless, say, say_json, say_table
from piiloom.corpus import importing
from piiloom.corpus.formats.base import ReadOptions, fault_kinds, quoted
from piiloom.corpus.formats.columns import check_columns
from piiloom.corpus.formats.registry import get_readable_format
from piiloom.corpus.importing import ImportReport, OnConflict, label_remedy, with_counts
from piiloom.corpus.releases.manifest import types_beside
from piiloom.corpus.store.own_types import keep_types, types_of
from piiloom.corpus.store.writing import store_for_writing
from piiloom.foundation.counting import counted
from piiloom.foundation.errors import DataError, UsageError
from piiloom.generation.settings.command_line_options import TypesOption
from piiloom.taxonomy.label_maps import label_map
from piiloom.taxonomy.locales import resolve_locale
from piiloom.taxonomy.own_types import OwnTypes, types_in_force
from piiloom.taxonomy.own_types_file import read_types_file

EPILOG = examples(
    "piiloom import corpus.jsonl --format capid",
    "piiloom import corpus.jsonl --format capid --skip-values",
    "piiloom import outputs/v1/train.jsonl --format native --store other.duckdb",
    "piiloom import corrected.jsonl --format native --on-conflict update",
    "piiloom import corpus.jsonl --format capid --locale en_GB --rejects refused.jsonl --json",
    "piiloom import corpus.jsonl --format native --types my_types.yaml",
    "piiloom import corpus.jsonl --format native --label-map my_labels.yaml",
)


def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to read, or the folder of a format of folders.")],
    file_format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="How it is written: native, capid … (an unknown one lists all).")
    ],
    store: StoreOption = DEFAULT_STORE,
    locale: Annotated[str, typer.Option(help="The locale of rows that name none.")] = "en_US",
    rejects: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where refused rows go, with line and reason (beside the store: <FILE's name>.rejects.jsonl)."),
    ] = None,
    on_conflict: Annotated[
        Literal["fail", "skip", "update", "new"],
        typer.Option(
            "--on-conflict",
            help="A row has a stored record's id and other text, question or labels: import nothing (fail), leave it out, "
            "store a new revision, or a record of its own.",
        ),
    ] = "fail",
    skip_values: Annotated[
        bool,
        typer.Option("--skip-values", help="Keep a row whose values are not all whole words of its text, without those values; list them."),
    ] = False,
    columns: Annotated[
        str | None, typer.Option(metavar="FIELD=COLUMN,…", help="The columns of a table by field, for example context=text,question=q.")
    ] = None,
    label_map: Annotated[
        str | None,
        typer.Option(
            "--label-map", metavar="NAME|FILE", help="What the file's labels mean: a map that ships with piiloom, or a YAML file."
        ),
    ] = None,
    types: TypesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import a file and report what became of every row and value.

    A row whose values cannot all be found as whole words is refused, never silently skipped: a record with an unmarked
    value would be wrong. --skip-values keeps such rows; the values are listed beside the rejected rows.
    """
    reading = ReadingChoice(
        format=file_format,
        locale=locale,
        skip_values=skip_values,
        columns={} if columns is None else parse_columns(columns),
        label_map=label_map,
        types=types,
    )
    import_and_report(file, reading, store, rejects=rejects, on_conflict=on_conflict, as_json=as_json)


_SHOWN = 8
_NOW_AND_THEN = {"seams", "as new records", "updated", "changed, skipped", "earlier revision", "skipped values", "joined texts"}
_OVERRULED = "updated, but what people have validated takes precedence over the update"
_BEGUN = "updated, but people are annotating the earlier text; what they decide will take precedence over the update"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import did: its report, the file with what it refused, and own types that the store has learnt from it."""

    report: ImportReport
    rejects: Path
    own_types: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingChoice:
    """How a file of records is to be read, as people say it.

    ``columns``: field → name of its column. ``label_map``: the name of a shipped map, or a YAML file. ``types``: a types file.
    """

    format: str
    locale: str = "en_US"
    skip_values: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    label_map: str | None = None
    types: Path | None = None

    def own_types(self, file: Path) -> OwnTypes:
        """Return the own types of the types file, or else of the export that *file* belongs to."""
        return types_beside(file) if self.types is None else read_types_file(self.types)

    def options(self) -> ReadOptions:
        """Return the options for a reader. Call it with the own types in force: a label map may name them."""
        return ReadOptions(
            locale=resolve_locale(self.locale),
            skip_values=self.skip_values,
            columns=self.columns,
            label_map={} if self.label_map is None else label_map(self.label_map),
        )


def import_and_report(
    file: Path, reading: ReadingChoice, store: Path, *, rejects: Path | None, on_conflict: OnConflict, as_json: bool
) -> None:
    """Import *file* and print the report."""
    done = import_into(file, reading, store, rejects=rejects, on_conflict=on_conflict)
    if as_json:
        beside = str(done.rejects) if done.report.rejected or done.report.skipped_values else None
        say_json({**done.report.to_json(), "rejects_file": beside, "store": str(store)})
        return
    _print(done.report, store, done.rejects)
    if done.own_types:
        say(f"own types that the store remembers from now on: {', '.join(done.own_types)}")


def import_into(file: Path, reading: ReadingChoice, store: Path, *, rejects: Path | None, on_conflict: OnConflict = "fail") -> Imported:
    """Import *file* (or folder), with the own types of *reading* or of the export that it belongs to.

    All that can be wrong with the request is found before the store is opened.
    """
    chosen = get_readable_format(reading.format)
    check_columns(chosen, reading.columns)
    resolve_locale(reading.locale)
    if not file.exists():
        raise DataError("the file to import does not exist", where=str(file), remedy="Check the path")
    if file.is_dir() and chosen.suffix:
        names = ", ".join(sorted(one.name for one in file.glob(f"*{chosen.suffix}"))) or "none"
        raise DataError("the file to import is not a file", where=str(file), remedy=f"Name one file of it; there are: {names}")
    rejects = rejects or store.parent / f"{file.stem}.rejects.jsonl"
    for taken, name in ((file, "the file to import"), (store, "the store")):
        if rejects.resolve() == taken.resolve():
            raise UsageError(f"rejects would overwrite {name}", where="--rejects", remedy="Name another file")
    own = reading.own_types(file)
    with types_in_force(own):
        reading.options()
    with store_for_writing(store) as opened:
        added = keep_types(opened, own)
        with types_in_force(types_of(opened)):
            options = reading.options()
            report = importing.import_file(opened, file, chosen, rejects_path=rejects, on_conflict=on_conflict, options=options)
    return Imported(report=report, rejects=rejects, own_types=tuple(one.name for one in own) if added else ())


def parse_columns(text: str) -> dict[str, str]:
    """Parse ``"context=text,question=q"`` into names of columns by field; raises ``UsageError`` for anything else."""
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, column = (piece.strip() for piece in part.partition("="))
        if not (name and equals and column) or name in found:
            raise UsageError(f"not a column: {part.strip()!r}", where="--columns", remedy="Write for example context=text,question=q")
        found[name] = column
    return found


def _print(report: ImportReport, store: Path, rejects: Path) -> None:
    table = Table(title=f"import of {harmless(report.file)}", show_header=False)
    table.add_column("what")
    table.add_column("number", justify="right")
    table.add_column("meaning")
    for name, count, meaning in _counts(report):
        table.add_row(name, f"{count:,}", meaning)
    say_table(table)
    for title, counts in (
        ("types not in the taxonomy", report.unknown_types),
        ("fields that were ignored", report.ignored_fields),
        ("labels that the label map leaves out", report.unmapped_labels),
    ):
        if counts:
            say(f"{title}: {with_counts(counts)}")
    if report.unknown_types:
        say(f"  {label_remedy(report.unknown_types)}")
    if report.mapped_types:
        say(f"types mapped to known types: {', '.join(f'{theirs} → {ours}' for theirs, ours in sorted(report.mapped_types.items()))}")
    for ids, what in ((report.overruled, _OVERRULED), (report.begun, _BEGUN)):
        if ids:
            say(f"{what}: {', '.join(ids[:_SHOWN])}{' …' if len(ids) > _SHOWN else ''}")
    if report.skipped_values:
        _print_skipped(report, rejects)
    if report.rejected:
        _print_rejects(report, rejects)
    say(f"store: {store}")


def _counts(report: ImportReport) -> list[tuple[str, int, str]]:
    """The lines of the table; what is only now and then the case has one only then."""
    counts = [
        ("rows", report.rows, "lines that are not empty"),
        ("records", report.records, "added to the store"),
        ("as new records", report.as_new, "of these, changed rows of known ids, with ids of their own"),
        ("updated", report.updated, "known records whose text, question or labels the row changes: a new revision"),
        ("changed, skipped", report.skipped_changed, "left out, though they differ from the stored record of their id"),
        ("already stored", report.already_stored, "skipped: the store has the same record"),
        ("earlier revision", report.earlier_revision, "of these, equal to an earlier revision: the store has a newer one"),
        ("rejected", len(report.rejected), "refused rows"),
        ("spans", report.spans, "of the records that were added" + " or updated" * bool(report.updated)),
        ("values", report.values, "in all rows"),
        ("exact", report.exact, "found as whole words"),
        ("ambiguous", report.ambiguous, "of these, found more than once: every mention is a span"),
        ("inside word", report.inside_word, "found only inside a longer word: no match" + ", but for seams" * bool(report.seams)),
        ("seams", report.seams, "of these, marked: digits and letters that meet, as 29 and F in 29F"),
        ("missing", report.missing, "found nowhere"),
        ("skipped values", len(report.skipped_values), "of these two, left out of records that were kept"),
        ("joined texts", report.joined_texts, "rows of tokens alone: the text is the tokens joined by blanks"),
        ("overlapping", len(report.overlapping), "mentions left out in favour of a longer one"),
    ]
    return [row for row in counts if row[1] or row[0] not in _NOW_AND_THEN]


def _print_skipped(report: ImportReport, rejects: Path) -> None:
    say(f"{_with_reasons(len(report.skipped_values), 'skipped value')}{rejects}")
    for one in report.skipped_values[:_SHOWN]:
        say(f"  line {one.line}: {quoted(one.value.text)} {one.value.reason}")
    if len(report.skipped_values) > _SHOWN:
        kinds = Counter(one.value.reason for one in report.skipped_values)
        say(f"  … ({', '.join(f'{kind} {count:,}' for kind, count in kinds.most_common(_SHOWN))})")


def _print_rejects(report: ImportReport, rejects: Path) -> None:
    kinds = Counter(kind for _, reason in report.rejected for kind in set(fault_kinds(reason)))
    say(f"{_with_reasons(len(report.rejected), 'rejected row')}{rejects}")
    for line, reason in report.rejected[:_SHOWN]:
        say(f"  line {line}: {reason}")
    if len(report.rejected) > _SHOWN:
        say(f"  … ({', '.join(f'{kind} {count:,}' for kind, count in kinds.most_common(_SHOWN))})")


def _with_reasons(count: int, what: str) -> str:
    return f"{counted(count, what)} with {'its reason' if count == 1 else 'their reasons'}: "
