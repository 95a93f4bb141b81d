"""The work behind ``piiloom export``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from piiloom.cli.reading import store_for_reading
from piiloom.cli.releasing import HASH_SHOWN
from piiloom.cli.terminal import say, say_aside, say_json, say_table
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.releases.exporting import ExportReport, export_formats
from piiloom.corpus.releases.manifest import AT_IMPORT
from piiloom.foundation.seeding import COST_OF_SEEDS
from piiloom.foundation.words import counted


def export_and_report(
    release: str,
    formats: Sequence[str],
    out: Path,
    path: Path,
    *,
    splits: Sequence[str],
    tokenizer: str,
    seed: int | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write a release to files and print what was written and what the formats could not say."""
    chosen = [get_format(name) for name in formats]
    if seed is not None:
        say_aside(f"warning: {COST_OF_SEEDS}")
    with store_for_reading(path) as store:
        reports = export_formats(store, release, chosen, out, splits=splits, tokenizer=tokenizer, seed=seed, force=force)
    if as_json:
        told = [report.to_json() for report in reports]
        say_json(told[0] if len(told) == 1 else {"release": release, "out": str(out), "exports": told})
        return
    for report in reports:
        _print(report)


def _print(report: ExportReport) -> None:
    table = Table(title=f"release {report.release} as {report.format}")
    for name in ("file", "split", "records", "sha256"):
        table.add_column(name, justify="right" if name == "records" else "left")
    for file in report.files:
        table.add_row(str(report.out / file.name), file.split, f"{file.records:,}", f"{file.sha256[:HASH_SHOWN]}…")
    say_table(table)
    if report.withheld:
        say(f"withheld: {counted(report.withheld, 'record')} (release.json says why)")
    if report.loss.fields:
        say(f"{report.format} does not keep: {', '.join(report.loss.fields)}")
    before = [entry for entry in report.loss.entries if entry.reason.startswith(AT_IMPORT)]
    now = [entry for entry in report.loss.entries if not entry.reason.startswith(AT_IMPORT)]
    for entries, where in ((before, AT_IMPORT), (now, f"lost in {report.format}")):
        if entries:
            records = len({entry.record_id for entry in entries})
            many = "value or field" if len(entries) == 1 else "values or fields"
            say(f"{where}: {len(entries):,} {many} of {counted(records, 'record')} (release.json lists them)")
    say(f"description and hashes: {report.out / 'release.json'}")
