"""``piiloom release``: freeze records and their splits under a name."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption, examples

EPILOG = examples(
    "piiloom release --name v1",
    "piiloom release --name v1 --test-size 200 --seed 3 --run last",
    "piiloom release --name everything --test-size 0 --json",
)


def release(
    name: Annotated[str, typer.Option(help="What the release is called; a name can be used once.")],
    test_size: Annotated[str, typer.Option(metavar="SIZE", help="The test split: a number of records, a fraction, or 0 for none.")] = "0.1",
    seed: Annotated[int, typer.Option(help="Same seed and records, same splits.")] = 7,
    status: Annotated[
        Literal["any", "generated", "imported", "validated"], typer.Option(help="Which records: validated ones are checked by people.")
    ] = "any",
    run: Annotated[
        str | None, typer.Option(metavar="RUN", help='Only records of this run, by id or "last"; of all when not given.')
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Freeze the records of the store into train and test splits that never change.

    Splits are stratified by pair of types; records that share a scenario, a persona or nearly the same text are never divided
    between them.
    """
    from piiloom.cli.releasing import release_and_report

    release_and_report(name, store, test_size=test_size, seed=seed, status=status, run=run, as_json=as_json)
