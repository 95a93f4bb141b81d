"""The work behind ``piiloom release`` and ``piiloom export``."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from piiloom.cli.reading import store_for_reading
from piiloom.cli.run_summary import store_option
from piiloom.cli.terminal import console, say, say_json
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.releases.exporting import ExportReport, export_release
from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.releases.import_losses import AT_IMPORT
from piiloom.corpus.releases.sizes import parse_test_size
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.releases import count_members, withheld_of
from piiloom.foundation.counting import counted

_HASH_SHOWN = 12


def release_and_report(name: str, path: Path, *, test_size: str, seed: int, status: str, run: str | None, as_json: bool) -> None:
    """Freeze a release and print the sizes of its splits."""
    size = parse_test_size(test_size)
    with Store.open(path, create=False) as store:
        row = create_release(store, name, test_size=size, seed=seed, run_id=run, status=status)
        splits, withheld = count_members(store, name), withheld_of(store, name)
    if as_json:
        say_json(
            {
                "release": row.name,
                "run": row.run_id,
                "seed": row.seed,
                "test_size": row.test_size,
                "status": row.status_filter,
                "splits": splits,
                "withheld": [{"record": record_id, "reason": reason} for record_id, reason in withheld],
                "store": str(path),
            }
        )
        return
    sizes = ", ".join(f"{split} {count:,}" for split, count in splits.items())
    say(f"release {row.name}: {sizes}" + (f", withheld {len(withheld):,} (release.json of an export says why)" if withheld else ""))
    say(f"  next      piiloom export --release {row.name} --format native --out DIR{store_option(path)}")


def export_and_report(release: str, file_format: str, out: Path, path: Path, *, force: bool, as_json: bool) -> None:
    """Write a release to files and print what was written and what the format could not say."""
    chosen = get_format(file_format)
    with store_for_reading(path) as store:
        report = export_release(store, release, chosen, out, force=force)
    if as_json:
        say_json(report.to_json())
    else:
        _print(report)


def _print(report: ExportReport) -> None:
    table = Table(title=f"release {report.release} as {report.format}")
    for name in ("file", "split", "records", "sha256"):
        table.add_column(name, justify="right" if name == "records" else "left")
    for file in report.files:
        table.add_row(str(report.out / file.name), file.split, f"{file.records:,}", f"{file.sha256[:_HASH_SHOWN]}…")
    console().print(table)
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
