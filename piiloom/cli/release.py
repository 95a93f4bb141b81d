"""``piiloom release``: freeze records and their splits under a name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Unpack

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.paging import in_columns
from piiloom.cli.run_summary import store_option
from piiloom.cli.terminal import examples, say, say_json
from piiloom.corpus.releases.freezing import draft_release, freeze
from piiloom.corpus.releases.release_options import ReleaseOptions, requested
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.releases import WARNING, ReleaseRow, count_members, new_values_of, withheld_of
from piiloom.foundation.counting import counted

EPILOG = examples(
    "piiloom release --name v1",
    "piiloom release --name v1 --test-size 200 --validation-size 0.1 --seed 3 --run last",
    "piiloom release --name checked --status validated --min-agreement 0.8 --license CC-BY-4.0",
    "piiloom release --name folds --folds 5 --balance relevance",
    "piiloom release --name v2 --version 2.0.0 --max-value-overlap 0 --overlap-by redraw",
    "piiloom release --name v3 --keep-split-of v2",
    "piiloom release --name everything --test-size 0 --json",
)
_SPLITS, _RECORDS = "Splits", "Which records"


_Name = Annotated[str, typer.Option(help="What the release is called; a name can be used once.")]
_Version = Annotated[str, typer.Option(metavar="VERSION", help="Its version, as the dataset card states it.")]
_License = Annotated[
    str | None, typer.Option("--license", metavar="TEXT", help="Its licence, best an SPDX identifier; not stated when not given.")
]
_TestSize = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="The test split: a number of records, a fraction, or 0 for none (0.1).", rich_help_panel=_SPLITS),
]
_ValidationSize = Annotated[str | None, typer.Option(metavar="SIZE", help="The validation split, likewise (0).", rich_help_panel=_SPLITS)]
_Folds = Annotated[int | None, typer.Option(metavar="N", help="Folds of equal size in the place of these splits.", rich_help_panel=_SPLITS)]
_Seed = Annotated[int, typer.Option(help="Same seed and records, same splits.", rich_help_panel=_SPLITS)]
_GroupBy = Annotated[
    str,
    typer.Option(
        metavar="LIST",
        help="What keeps records in one split: all, none, or some of keys,contexts,questions,values,parents.",
        rich_help_panel=_SPLITS,
    ),
]
_Balance = Annotated[
    Literal["relevance", "type", "locale"] | None,
    typer.Option(help="Withhold records until the splits are balanced by this.", rich_help_panel=_SPLITS),
]
_MaxValueOverlap = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="The most distinct values of a test split that may be in train, too.", rich_help_panel=_SPLITS),
]
_OverlapBy = Annotated[
    Literal["redraw", "move", "withhold"] | None,
    typer.Option(help="How that is kept: values drawn anew (redraw), records moved or left out.", rich_help_panel=_SPLITS),
]
_KeepSplitOf = Annotated[
    str | None,
    typer.Option(
        metavar="RELEASE",
        help="Records of this release stay in their split, new ones follow those they belong with; its sizes, unless others are given.",
        rich_help_panel=_SPLITS,
    ),
]
_Status = Annotated[
    Literal["any", "validated", "adjudicated", "generated", "imported"],
    typer.Option(help="validated: checked by people; adjudicated: people agreed, or one decided between them.", rich_help_panel=_RECORDS),
]
_Run = Annotated[
    str | None,
    typer.Option(metavar="RUN", help='Only records of this run, by id or "last"; of all when not given.', rich_help_panel=_RECORDS),
]
_Locale = Annotated[str | None, typer.Option(help="Only records of this locale.", rich_help_panel=_RECORDS)]
_MinAgreement = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE", help="Only records of which annotators gave at least this share of equal labels.", rich_help_panel=_RECORDS
    ),
]
_Judged = Annotated[
    Literal["any", "agree"],
    typer.Option(help="agree: no records with a value that a judge saw otherwise.", rich_help_panel=_RECORDS),
]


def release(
    name: _Name,
    version: _Version = "1.0.0",
    license_: _License = None,
    test_size: _TestSize = None,
    validation_size: _ValidationSize = None,
    folds: _Folds = None,
    seed: _Seed = 7,
    group_by: _GroupBy = "all",
    balance: _Balance = None,
    max_value_overlap: _MaxValueOverlap = None,
    overlap_by: _OverlapBy = None,
    keep_split_of: _KeepSplitOf = None,
    status: _Status = "any",
    run: _Run = None,
    locale: _Locale = None,
    min_agreement: _MinAgreement = None,
    judged: _Judged = "any",
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Freeze records of the store into splits that never change.

    Splits are stratified by pair of types; records that share a scenario, a persona or nearly the same text are never divided
    between them. docs/releases.md says what is frozen, and how to compare and delete releases.
    """
    release_and_report(
        name,
        store,
        as_json=as_json,
        test_size=test_size,
        validation_size=validation_size,
        folds=folds,
        seed=seed,
        group_by=group_by,
        balance=balance,
        max_value_overlap=max_value_overlap,
        overlap_by=overlap_by,
        keep_split_of=keep_split_of,
        status=status,
        run=run,
        locale=locale,
        min_agreement=min_agreement,
        judged=judged,
        version=version,
        license=license_,
    )


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
        splits, withheld, new_values = count_members(store, name), withheld_of(store, name), len(new_values_of(store, name))
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
