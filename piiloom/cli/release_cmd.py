"""``piiloom release``: freeze records and their splits under a name."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.terminal import examples

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
    from piiloom.cli.releasing import release_and_report

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
