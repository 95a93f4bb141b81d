"""The work behind ``piiloom release``, and the options of a release as commands and the Python API take them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from piiloom.cli.columns import in_columns
from piiloom.cli.run_summary import store_option
from piiloom.cli.terminal import say, say_json
from piiloom.corpus.releases.freezing import draft_release, freeze
from piiloom.corpus.releases.release_options import ReleaseOptions, requested
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.releases import WARNING, ReleaseRow, count_members, new_values_of, withheld_of
from piiloom.foundation.words import counted

HASH_SHOWN = 12
# The first ten names of a list in a warning, and those after them.
_LONG_LIST = re.compile(r"((?:[^,:]+, ){9}[^,:]+)((?:, (?!since )[^,:]+){2,})")
# The figures of a leakage report that are printed: their places in it by title.
_LEAKS = {
    "values": ("values",),
    "of open types": ("open_values",),
    "near contexts": ("contexts", "near"),
    "near questions": ("questions", "near"),
    "stories": ("stories",),
    "personas": ("personas",),
}
_FEWER = "--max-value-overlap 0 draws those of open types anew; the other columns count records"


def release_and_report(name: str, path: Path, *, as_json: bool, **options: Unpack[ReleaseOptions]) -> None:
    """Freeze a release and print the sizes of its splits, what was left out, what a split lacks, and what the splits share."""
    request = requested(name, **options)  # what is wrong with it is told before a store is opened
    with Store.open(path, create=False) as store:
        row = freeze(store, draft_release(store, request))
        splits, withheld, new_values = count_members(store, row), withheld_of(store, row), len(new_values_of(store, row))
    if as_json:
        about = {"splits": splits, "withheld": [{"record": record_id, "reason": reason} for record_id, reason in withheld]}
        say_json({**release_json(row), **about, "new_values": new_values, "store": str(path)})
        return
    sizes = ", ".join(f"{split} {count:,}" for split, count in splits.items())
    say(f"release {row.name}: {sizes}" + (f", withheld {len(withheld):,} (release.json of an export says why)" if withheld else ""))
    say_findings(row, new_values)
    say(f"  next      piiloom export --release {row.name} --format native --out DIR{store_option(path)}")


def release_json(row: ReleaseRow) -> dict[str, Any]:
    """Return what is kept of a release as JSON values, but for its records."""
    return {
        "release": row.name,
        "version": row.version,
        "content_sha256": row.content_sha256,
        "license": row.license,
        "run": row.run_id,
        "seed": row.seed,
        "test_size": row.test_size,
        "status": row.status_filter,
        "settings": dict(row.split_settings),
        "filters": {**row.record_choice, "left_out": dict(row.left_out)},
        "notes": [note for note in row.notes if not note.startswith(WARNING)],
        "warnings": row.warnings,
        "leakage": None if row.leakage is None else dict(row.leakage),
        "piiloom": row.piiloom,
        "schema_version": row.schema_version,
    }


def say_findings(row: ReleaseRow, new_values: int) -> None:
    """Print what filters left out, how many mentions have a new value, the notes, and what the splits share."""
    if left_out := ", ".join(f"{name} {count:,}" for name, count in row.left_out.items() if count):
        say(f"  left out  {left_out}")
    if new_values:
        say(f"  redrawn   {counted(new_values, 'mention')} in the place of values that are in another split")
    for note in row.notes:
        say(f"  {_shortened(note).replace(': ', '   ', 1)}" if note.startswith(WARNING) else f"  note      {note}")
    if row.leakage is not None:
        _say_leakage(row.leakage)


def _shortened(warning: str) -> str:
    """Return *warning* with the first ten names of each list and the number of the others; ``--json`` has them all."""
    return _LONG_LIST.sub(lambda found: f"{found[1]} and {found[2].count(', ')} more (--json names all)", warning)


def _say_leakage(leakage: Mapping[str, Any]) -> None:
    """Print what each split shares with another, as kept in a release (``piiloom.corpus.releases.leakage``), and what a figure means."""
    if not leakage:
        return
    rows = [(name, split["against"], *(_seen(split, *path) for path in _LEAKS.values())) for name, split in leakage.items()]
    say("\n".join(f"  {line}" for line in in_columns([("leaks", "from", *_LEAKS), *rows], left=(0, 1))))
    name, split = next(iter(leakage.items()))
    seen, of = split["values"]["seen"], split["values"]["of"]
    say(f"            {seen:,}/{of:,}: of {of:,} distinct values in {name}, {seen:,} are also in {split['against']}; {_FEWER}")


def _seen(split: Mapping[str, Any], *path: str) -> str:
    found: Any = split
    for name in path:
        found = found[name]
    return f"{found['seen']:,}/{found['of']:,}"
