"""``piiloom journal``: what the store knows about paid calls: sums, an export, forgetting texts, a smaller file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.terminal import examples

_SHOW = ("piiloom journal show", "piiloom journal show --run last --json")
_EXPORT = ("piiloom journal export --out calls.jsonl", "piiloom journal export --run last --out outputs/last.jsonl")
_PURGE = ("piiloom journal purge --run r0001-1a2b3c4d", "piiloom journal purge --older-than 90 --yes")
_VACUUM = ("piiloom journal vacuum", "piiloom journal vacuum --store other.duckdb --json")

journal_app = typer.Typer(
    help="Sum up the calls of runs; export, purge or compact their journal.",
    epilog=examples(*_SHOW, *_EXPORT, *_PURGE, *_VACUUM),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_OneRun = Annotated[str | None, typer.Option("--run", metavar="RUN", help='Only this run, by its id or "last"; all runs when not given.')]


@journal_app.command("show", epilog=examples(*_SHOW))
def show(
    store: StoreOption = DEFAULT_STORE,
    run: _OneRun = None,
    stage: Annotated[str | None, typer.Option("--stage", metavar="STAGE", help="Only the calls of this stage.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Sum up the calls by run and stage: replies, failures, retries, tokens, cost.

    The column "maybe paid" counts requests without an answer that may have been billed: lost on the way, or under way when
    their process ended.
    """
    from piiloom.cli.journaling import print_journal

    print_journal(store, run_id=run, stage=stage, as_json=as_json)


@journal_app.command("export", epilog=examples(*_EXPORT))
def export(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The JSONL file to write; one that is there is replaced at the end.")],
    store: StoreOption = DEFAULT_STORE,
    run: _OneRun = None,
    as_json: JsonOption = False,
) -> None:
    """Write every prompt, reply, failure and verdict to a JSON Lines file, and check it against the store.

    The file holds prompts and replies in full. It appears under its name only when it is complete and was read back.
    """
    from piiloom.cli.journal_file import export_journal

    export_journal(store, out, run_id=run, as_json=as_json)


@journal_app.command("purge", epilog=examples(*_PURGE))
def purge(
    run: Annotated[
        list[str] | None, typer.Option("--run", metavar="RUN", help='A run to purge, by its id or "last"; may be given several times.')
    ] = None,
    older_than: Annotated[
        float | None,
        typer.Option("--older-than", metavar="DAYS", min=0, help="Purge the runs whose last call is at least this many days old."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Delete the texts of prompts and replies of chosen runs; records, codes, tokens and costs stay.

    A purged reply cannot be used again: a run that asks the same pays for it anew.
    """
    from piiloom.cli.journaling import purge_journal

    if not purge_journal(store, runs=run or [], older_than=older_than, confirmed=yes, as_json=as_json):
        raise typer.Exit(1)


@journal_app.command("vacuum", epilog=examples(*_VACUUM))
def vacuum(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Rewrite the store's file without the space of what was deleted; prints its size before and after.

    The copy is compared with the store before it takes its place; until then nothing is changed.
    """
    from piiloom.cli.journaling import vacuum_store

    vacuum_store(store, as_json=as_json)
