"""``piiloom export``: a release as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from piiloom.cli.options import COST_OF_SEEDS, DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.reading import store_for_reading
from piiloom.cli.release import HASH_SHOWN
from piiloom.cli.terminal import examples, say, say_aside, say_json, say_table
from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.releases.exporting import ExportReport, export_formats
from piiloom.corpus.releases.import_losses import AT_IMPORT
from piiloom.foundation.counting import counted
from piiloom.foundation.seeding import secret_key

EPILOG = examples(
    "piiloom export --release v1 --format native --out outputs/v1",
    "piiloom export --release v1 --format capid --out outputs/v1-capid --force",
    "piiloom export --release v1 --format native --format capid --out outputs/v1-all",
    "piiloom export --release v1 --format native --split test --out outputs/v1-test",
    "piiloom export --release v1 --format capid --out outputs/v1-capid --json",
)


def export(
    release: Annotated[str, typer.Option(metavar="NAME", help="The release to write; piiloom release makes one.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write to; it must be new or empty.")],
    formats: Annotated[
        list[str],
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="How to write it: native, capid … (an unknown one lists all); several go to a folder each, DIR/FORMAT.",
        ),
    ],
    split: Annotated[
        list[str] | None, typer.Option(metavar="SPLIT", help="Only this split (train, validation, test, fold1 …); can be given repeatedly.")
    ] = None,
    tokenizer: Annotated[
        str, typer.Option(metavar="NAME", help="How formats with tokens cut the texts; others have no use for it.")
    ] = "whitespace",
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="For the surrogates of masked: same seed, same ones. Without it they are others at each export."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write into a folder that is not empty; an export there is replaced, other files never.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Write a release to a file a split (train.jsonl, test.jsonl …; an empty one is left out) and release.json.

    The same release gives the same bytes everywhere (but for the surrogates of masked). What a format cannot express is listed in
    release.json.
    """
    export_and_report(release, formats, out, store, splits=split or (), tokenizer=tokenizer, seed=seed, force=force, as_json=as_json)


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
    options = WriteOptions(tokenizer=tokenizer, key=secret_key(seed))
    if seed is not None:
        say_aside(f"warning: {COST_OF_SEEDS}")
    with store_for_reading(path) as store:
        reports = export_formats(store, release, chosen, out, splits=splits, options=options, force=force)
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
