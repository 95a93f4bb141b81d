"""``piiloom records``: the records of a store: listed, shown with their spans, and searched."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonLinesOption, JsonOption, StoreOption
from piiloom.cli.paging import LimitOption, OffsetOption
from piiloom.cli.terminal import examples

_LIST = (
    "piiloom records list",
    "piiloom records list --type health --relevance high --pair health+occupation",
    "piiloom records list --release v1 --split test --texts --limit 5",
    "piiloom records list --run last --limit 0 --json",
)
_SHOW = ("piiloom records show 3f9a0c", "piiloom records show last:17", "piiloom records show 3f9a0c --json")
_SEARCH = (
    'piiloom records search "night shift"',
    "piiloom records search asthma --in-values --relevance high",
    "piiloom records search nurse --run last --json",
)

records_app = typer.Typer(
    help="List, show and search the records of a store.",
    epilog=examples(*_LIST[:2], *_SHOW[:1], *_SEARCH[:1]),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_Run = Annotated[str | None, typer.Option("--run", metavar="RUN", help='Only records of this run, by its id or "last".')]
_Release = Annotated[str | None, typer.Option("--release", metavar="NAME", help="Only records of this release.")]
_Split = Annotated[str | None, typer.Option("--split", metavar="SPLIT", help="Only this split of the release: train or test.")]
_Type = Annotated[str | None, typer.Option("--type", metavar="TYPE", help="Only records with a span of this PII type.")]
_Relevance = Annotated[
    Literal["high", "low", "none"] | None,
    typer.Option("--relevance", help="Only records with a span (of --type, where given) of this relevance."),
]
_Pair = Annotated[str | None, typer.Option("--pair", metavar="TYPE+TYPE", help="Only records planned for this pair of types.")]
_Status = Annotated[str | None, typer.Option("--status", metavar="STATUS", help="Only records of this status: generated, imported …")]
_Locale = Annotated[str | None, typer.Option("--locale", metavar="LOCALE", help="Only records of this locale.")]
_All = Annotated[bool, typer.Option("--all-revisions", help="Also the revisions that later ones have replaced.")]


@records_app.command("list", epilog=examples(*_LIST))
def list_records(
    store: StoreOption = DEFAULT_STORE,
    run: _Run = None,
    release: _Release = None,
    split: _Split = None,
    entity_type: _Type = None,
    relevance: _Relevance = None,
    pair: _Pair = None,
    status: _Status = None,
    locale: _Locale = None,
    all_revisions: _All = False,
    texts: Annotated[bool, typer.Option("--texts", help="Print the whole texts with their spans, not a line a record.")] = False,
    limit: LimitOption = 20,
    offset: OffsetOption = 0,
    as_json: JsonLinesOption = False,
) -> None:
    """List records, a line each, in the order of their runs and plans; imports come last.

    Only records that meet every option given. With --json each record is a native row, on a line of its own.
    """
    from piiloom.cli.records_view import print_records

    options: dict[str, Any] = {"run": run, "release": release, "split": split, "type": entity_type, "relevance": relevance}
    options |= {"pair": pair, "status": status, "locale": locale, "all_revisions": all_revisions}
    print_records(store, options, texts=texts, limit=limit, offset=offset, as_json=as_json)


@records_app.command("show", epilog=examples(*_SHOW))
def show(
    wanted: Annotated[str, typer.Argument(metavar="ID", help="A record's id or how it begins (six letters or more), or RUN:INDEX.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show one record: its text with the spans marked, its question, each span, its plan, and which releases hold it.

    Where it was stored in several revisions the newest is shown. piiloom trace shows how it came about.
    """
    from piiloom.cli.record_view import print_record

    print_record(store, wanted, as_json=as_json)


@records_app.command("search", epilog=examples(*_SEARCH))
def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to look for, as it is; case does not matter.")],
    store: StoreOption = DEFAULT_STORE,
    in_values: Annotated[bool, typer.Option("--in-values", help="Look only inside the spans, not in the rest of the text.")] = False,
    run: _Run = None,
    release: _Release = None,
    split: _Split = None,
    entity_type: _Type = None,
    relevance: _Relevance = None,
    pair: _Pair = None,
    status: _Status = None,
    locale: _Locale = None,
    all_revisions: _All = False,
    limit: LimitOption = 20,
    offset: OffsetOption = 0,
    as_json: JsonLinesOption = False,
) -> None:
    """Find records by what stands in their context or question, and print their texts with the spans marked.

    With --in-values the text must stand in a span, of --type and --relevance where these are given. With --json each record is a native
    row, on a line of its own.
    """
    from piiloom.cli.records_view import print_records

    options: dict[str, Any] = {"run": run, "release": release, "split": split, "type": entity_type, "relevance": relevance}
    options |= {"pair": pair, "status": status, "locale": locale, "all_revisions": all_revisions, "text": text, "in_values": in_values}
    print_records(store, options, texts=True, limit=limit, offset=offset, as_json=as_json)
