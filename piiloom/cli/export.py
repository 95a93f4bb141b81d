"""``piiloom export``: a release as files."""

from __future__ import annotations

from rich.table import Table

from piiloom.cli.options import StoreOptions, store_for_reading
from piiloom.cli.releases import HASH_SHOWN
from piiloom.cli.terminal import examples, say, say_aside, say_json, say_table
from piiloom.corpus.releases.exporting import WRITTEN_FORMATS, ExportReport, ExportSettings, export_formats
from piiloom.corpus.releases.manifest import AT_IMPORT
from piiloom.foundation.command_line import takes
from piiloom.foundation.seeding import COST_OF_SEEDS
from piiloom.foundation.settings import AnyPath, setting
from piiloom.foundation.words import counted

EPILOG = examples(
    "piiloom export --release v1 --format native --out outputs/v1",
    "piiloom export --release v1 --format capid --out outputs/v1-capid --force",
    "piiloom export --release v1 --format native --format capid --out outputs/v1-all",
    "piiloom export --release v1 --format native --split test --out outputs/v1-test",
    "piiloom export --release v1 --format capid --out outputs/v1-capid --json",
)


class ExportOptions(StoreOptions, ExportSettings):
    """The options of ``piiloom export``."""

    release: str = setting(..., "The release to write; piiloom release makes one.", metavar="NAME")
    out: AnyPath = setting(..., "The folder to write to; it must be new or empty.", flags="--out -o", metavar="DIR")
    format: list[str] = setting(..., WRITTEN_FORMATS, metavar="FORMAT")


@takes(ExportOptions)
def export(asked: ExportOptions) -> None:
    """Write a release to a file for each split (train.jsonl, test.jsonl …; an empty one is left out) and release.json.

    The same release gives the same bytes everywhere (but for the surrogates of masked). release.json lists the losses of a format.
    """
    chosen = asked.formats()
    if asked.seed is not None:
        say_aside(f"warning: {COST_OF_SEEDS}")
    with store_for_reading(asked.store) as store:
        reports = export_formats(
            store,
            asked.release,
            chosen,
            asked.out,
            splits=asked.splits,
            tokenizer=asked.tokenizer,
            markers=asked.marker_set,
            seed=asked.seed,
            force=asked.force,
        )
    if asked.as_json:
        told = [report.to_json() for report in reports]
        say_json(told[0] if len(told) == 1 else {"release": asked.release, "out": str(asked.out), "exports": told})
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
