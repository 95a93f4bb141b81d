"""The work behind ``piiloom import``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rich.table import Table

from piiloom.cli.terminal import console, harmless, say, say_json
from piiloom.cli.workspace import store_for_writing
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.importing import ImportReport, import_file
from piiloom.corpus.releases.manifest import types_beside
from piiloom.corpus.store.own_types import keep_types, types_of
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.locales import get_locale
from piiloom.taxonomy.own_types import types_in_force
from piiloom.taxonomy.own_types_file import read_types_file

_SHOWN = 8


def import_and_report(
    file: Path, file_format: str, store: Path, *, locale: str, rejects: Path | None, types: Path | None, as_json: bool
) -> None:
    """Import *file* and print the report; all that can be wrong with the request is found before the store is opened."""
    chosen, code = get_format(file_format), get_locale(locale).code
    if not file.is_file():
        problem = "is not a file" if file.exists() else "does not exist"
        raise DataError(f"the file to import {problem}", where=str(file), remedy="Check the path")
    rejects = rejects or store.parent / f"{file.stem}.rejects.jsonl"
    for taken, name in ((file, "the file to import"), (store, "the store")):
        if rejects.resolve() == taken.resolve():
            raise UsageError(f"rejects would overwrite {name}", where="--rejects", remedy="Name another file")
    own = types_beside(file) if types is None else read_types_file(types)
    with store_for_writing(store) as opened:
        added = keep_types(opened, own)
        with types_in_force(types_of(opened)):
            report = import_file(opened, file, chosen, locale=code, rejects_path=rejects)
    if as_json:
        say_json({**report.to_json(), "rejects_file": str(rejects) if report.rejected else None, "store": str(store)})
    else:
        _print(report, store, rejects)
        if added:
            say(f"own types that the store remembers from now on: {', '.join(one.name for one in own)}")


def _print(report: ImportReport, store: Path, rejects: Path) -> None:
    table = Table(title=f"import of {harmless(report.file)}", show_header=False)
    table.add_column("what")
    table.add_column("number", justify="right")
    table.add_column("meaning")
    for name, count, meaning in _counts(report):
        table.add_row(name, f"{count:,}", meaning)
    console().print(table)
    for title, counts in (("types not in the taxonomy", report.unknown_types), ("fields that were ignored", report.ignored_fields)):
        if counts:
            say(f"{title}: {', '.join(f'{name} {count:,}' for name, count in sorted(counts.items()))}")
    if report.unknown_types:
        say("  a file that --types names can define them (docs/own-types.md)")
    if report.mapped_types:
        say(f"types taken for ours: {', '.join(f'{theirs} → {ours}' for theirs, ours in sorted(report.mapped_types.items()))}")
    if report.rejected:
        _print_rejects(report, rejects)
    say(f"store: {store}")


def _counts(report: ImportReport) -> list[tuple[str, int, str]]:
    return [
        ("rows", report.rows, "lines that hold something"),
        ("records", report.records, "added to the store"),
        ("already stored", report.already_stored, "skipped: the store has the same record"),
        ("rejected", len(report.rejected), "refused rows"),
        ("spans", report.spans, "of the records that were added"),
        ("values", report.values, "in all rows"),
        ("exact", report.exact, "found as whole words"),
        ("ambiguous", report.ambiguous, "of these, found more than once: every mention is a span"),
        ("inside word", report.inside_word, "found only inside a longer word: no match"),
        ("missing", report.missing, "found nowhere"),
        ("overlapping", len(report.overlapping), "mentions left out in favour of a longer one"),
    ]


def _print_rejects(report: ImportReport, rejects: Path) -> None:
    # Reasons name fields and positions; without the numbers the same fault reads the same.
    kinds = Counter(reason.split(":")[0] for _, reason in report.rejected)
    say(f"{len(report.rejected):,} rejected rows with their reasons: {rejects}")
    for line, reason in report.rejected[:_SHOWN]:
        say(f"  line {line}: {reason}")
    if len(report.rejected) > _SHOWN:
        say(f"  … ({', '.join(f'{kind} {count:,}' for kind, count in kinds.most_common(_SHOWN))})")
