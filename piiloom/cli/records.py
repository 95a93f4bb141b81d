"""``piiloom records``: the records of a store: listed, shown with their spans, and searched."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from piiloom.cli.options import DEFAULT_STORE, JsonLinesOption, JsonOption, StoreOption
from piiloom.cli.paging import LimitOption, OffsetOption, in_columns, rest_of_list, say_json_lines
from piiloom.cli.reading import seen_store, sight_to_json
from piiloom.cli.sample_table import legend, marked_context, type_colours
from piiloom.cli.terminal import console, examples, harmless, say, say_aside, say_json
from piiloom.corpus.formats.native_rows import COLUMNS, flat_row_of, row_of
from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.reading import open_to_read
from piiloom.corpus.store.record_search import RecordFilter, StoredRecord, find_stored, releases_of, search_records, values_there
from piiloom.corpus.store.releases import count_members, get_release
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.errors import StoreError, UsageError
from piiloom.foundation.frames import Row, Rows
from piiloom.generation.running.tracing import SHORTEST_PREFIX
from piiloom.taxonomy.locales import resolve_locale

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
    options: dict[str, Any] = {"run": run, "release": release, "split": split, "type": entity_type, "relevance": relevance}
    options |= {"pair": pair, "status": status, "locale": locale, "all_revisions": all_revisions, "text": text, "in_values": in_values}
    print_records(store, options, texts=True, limit=limit, offset=offset, as_json=as_json)


# What a line of the list has room for where nobody says how wide it may be.
_WIDTH = 160
_FOUND = "underline2 bold"


def print_records(path: Path, options: Mapping[str, Any], *, texts: bool, limit: int, offset: int, as_json: bool) -> None:
    """Print the records of the store that meet *options* (those of the command line by their names)."""
    with seen_store(path) as (store, _):
        total, found = search_records(store, _filter(store, options), limit=limit, offset=offset)
        if as_json:
            shown = say_json_lines(map(record_to_json, found))
        else:
            shown = _print_texts(found, options.get("text")) if texts else _print_lines(found)
    if not total:
        (say_aside if as_json else say)("no record matches" if any(options.values()) else f"no records in {path}")
    elif more := rest_of_list(total, shown, offset=offset):
        say_aside(more)


def stored_records(path: Path, options: Mapping[str, Any], *, limit: int, offset: int) -> Rows[Record]:
    """Return the records of the store that meet *options*. In a frame each has its run, plan index and status, too."""
    with open_to_read(path) as store:
        found = list(search_records(store, _filter(store, options), limit=limit, offset=offset)[1])
    return Rows((one.record for one in found), partial(_stored_row, found), (*COLUMNS, "run", "plan_index", "status"))


def _stored_row(found: Sequence[StoredRecord], number: int, record: Record) -> list[Row]:
    one = found[number]
    return [{**flat_row_of(record), "run": one.run_id, "plan_index": one.plan_index, "status": one.status}]


def record_to_json(found: StoredRecord) -> dict[str, Any]:
    """Give a record as its native row, with its place in the store."""
    return {**row_of(found.record), "run": found.run_id, "plan_index": found.plan_index, "status": found.status}


def place_of(found: StoredRecord) -> str:
    """Where the record came from: RUN:INDEX, or "import"."""
    return "import" if found.run_id is None else found.run_id if found.plan_index is None else f"{found.run_id}:{found.plan_index}"


def _filter(store: Store, options: Mapping[str, Any]) -> RecordFilter:
    """Check what was asked for against what the store has, so that a slip of the pen is no empty list."""
    run, release, split = options.get("run"), options.get("release"), options.get("split")
    if split is not None and release is None:
        raise UsageError("only a release has splits", where="--split", remedy="Name one with --release")
    if release is not None:
        get_release(store, release)
        _check("--split", split, list(count_members(store, release)))
    for option, column in (("status", "status"), ("type", "entity_type")):
        if options.get(option) is not None:
            _check(f"--{option}", options[option], values_there(store, column))
    if options.get("text") == "":
        raise UsageError("there is nothing to look for", where="TEXT", remedy="piiloom records list lists all records")
    return RecordFilter(
        run_id=None if run is None else get_run(store, run).id,
        release=release,
        split=split,
        status=options.get("status"),
        locale=_locale(options.get("locale"), values_there(store, "locale")),
        pair=None if options.get("pair") is None else _pair(options["pair"]),
        entity_type=options.get("type"),
        relevance=options.get("relevance"),
        text=options.get("text"),
        in_values=options.get("in_values", False),
        all_revisions=options.get("all_revisions", False),
    )


def _check(option: str, value: str | None, there: Iterable[str]) -> None:
    if value is not None and value not in (known := list(there)):
        raise UsageError(f"no record has {value!r}", where=option, remedy=f"There are: {', '.join(known) or 'no records'}")


def _locale(name: str | None, there: list[str]) -> str | None:
    """Return the locale among *there* that *name* means; it may be one that is not valid, from before imports checked them."""
    if name is None or name in there:
        return name
    try:
        return resolve_locale(name, there)
    except UsageError:
        raise UsageError(f"no record has {name!r}", where="--locale", remedy=f"There are: {', '.join(there) or 'no records'}") from None


def _pair(text: str) -> tuple[str, str]:
    first, plus, second = (part.strip() for part in text.partition("+"))
    if not (first and plus and second) or "+" in second:
        raise UsageError(f"{text!r} is not a pair of types", where="--pair", remedy="Write it as health+occupation")
    return first, second


def _print_lines(found: Iterable[StoredRecord]) -> int:
    """Print a line a record, as they come; gives how many."""
    width, shown = console().width if sys.stdout.isatty() else _WIDTH, 0
    for shown, one in enumerate(found, 1):
        if shown == 1:
            say(_line("id", "from", "status", "pair", "spans", "text"))
        record = one.record
        pair = "+".join(record.plan.pair) if record.plan else "-"
        high = sum(span.relevance == "high" for span in record.spans)
        spans = f"{len(record.spans)} ({high} high)" if high else f"{len(record.spans)}"
        line = _line(record.id, place_of(one), one.status, pair, spans, "")
        say((line + " ".join(record.context[:_WIDTH].split())[: max(0, width - len(line))]).rstrip())
    return shown


def _line(name: str, place: str, status: str, pair: str, spans: str, text: str) -> str:
    return f"{name:<24}  {place:<19}  {status:<10}  {pair:<30}  {spans:<11}  {text}"


def _print_texts(found: Iterator[StoredRecord], text: str | None) -> int:
    """Print whole texts, what was looked for standing out; gives how many."""
    to, colours, shown, seen = console(), type_colours(), 0, set[str]()
    pattern = re.compile(re.escape(harmless(text)), re.IGNORECASE) if text else None
    for shown, one in enumerate(found, 1):
        if shown > 1:
            to.print()
        to.print(Text(harmless(head_of(one)), style="bold" if to.color_system else ""), soft_wrap=True)
        print_texts_of(to, one, colours, pattern)
        seen.update(span.entity_type for span in one.record.spans)
    if seen and to.color_system is not None:
        to.print()
        to.print(legend(colours, seen))
    return shown


def head_of(found: StoredRecord) -> str:
    """Give the line above a record's text."""
    record = found.record
    parts = [record.id, place_of(found), found.status, *(["+".join(record.plan.pair)] if record.plan else []), record.locale]
    return "  ".join([*parts, *([f"revision {record.revision}"] if record.revision else [])])


def print_texts_of(to: Console, found: StoredRecord, colours: dict[str, str], pattern: re.Pattern[str] | None = None) -> None:
    """Print context and question, spans marked and, where given, what matches *pattern*."""
    record = found.record
    lines = [marked_context(record, colours, coloured=to.color_system is not None)]
    if record.question is not None:
        lines.append(Text(f"→ {harmless(record.question)}", style="italic"))
    for line in lines:
        if pattern is not None:
            line.highlight_regex(pattern, _FOUND)
        to.print(line, soft_wrap=not to.is_terminal)


_TITLES = ("span", "type", "relevance", "subtype", "whose", "value", "place", "text")


def print_record(path: Path, wanted: str, *, as_json: bool) -> None:
    """Print the record that *wanted* (an id, how it begins, or RUN:INDEX) names."""
    with seen_store(path) as (store, sight):
        found = _find(store, wanted)
        releases = releases_of(store, found.record.id, found.run_id)
    if as_json:
        held = [asdict(release) for release in releases]
        say_json({"store": str(path), "read": sight_to_json(sight), "record": record_to_json(found), "releases": held})
        return
    say(head_of(found))
    say("")
    print_texts_of(console(), found, type_colours())
    if found.record.spans:
        say("")
        say("\n".join(in_columns([_TITLES, *_span_cells(found)], left=range(len(_TITLES)))))
    say("")
    for name, value in _facts(found).items():
        say(f"  {name:<9} {value}")
    for release in releases:
        older = "" if release.revision == found.record.revision else f", revision {release.revision}"
        say(f"  release   {release.name}: {release.split}{older}")


def _find(store: Store, wanted: str) -> StoredRecord:
    run, colon, index = wanted.rpartition(":")
    if colon and index.isdecimal():
        found = find_stored(store, run_id=get_run(store, run).id, plan_index=int(index))
        remedy = f"piiloom trace {wanted} shows what became of this item"
    else:
        if len(wanted) < SHORTEST_PREFIX:
            raise UsageError(
                f"{wanted!r} is too short", where="ID", remedy=f"Give {SHORTEST_PREFIX} letters of the id or more, or RUN:INDEX"
            )
        found = find_stored(store, prefix=wanted)
        remedy = "piiloom records list shows the ids"
    if not found:
        raise StoreError(f"there is no record {wanted!r}", where=str(store.path), remedy=remedy)
    if len({(one.record.id, one.run_id) for one in found}) > 1 and not any(one.record.id == wanted for one in found):
        names = ", ".join(f"{one.record.id}{f' of {one.run_id}' if one.run_id else ''}" for one in found[:5])
        raise UsageError(f"{wanted!r} fits several records", where="ID", remedy=f"Name one of {names}{', …' if len(found) > 5 else ''}")
    return next((one for one in found if one.record.id == wanted), found[0])


def _span_cells(found: StoredRecord) -> list[tuple[str, ...]]:
    record = found.record
    return [
        (
            span.id,
            span.entity_type,
            span.relevance or "-",
            span.subtype or "-",
            span.subject or "-",
            span.value_id or "-",
            f"{span.start}-{span.end}",
            " ".join(span.text_in(record.context).split()),
        )
        for span in record.spans
    ]


def _facts(found: StoredRecord) -> dict[str, Any]:
    """What is known of the record beside its texts, by the name of it."""
    record = found.record
    facts: dict[str, Any] = {}
    if record.plan is not None:
        planned = asdict(record.plan)
        planned.pop("pair")
        facts["plan"] = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in planned.items() if value is not None)
    if record.source is not None:
        line = "" if record.source.line is None else f", line {record.source.line}"
        facts["source"] = f"{record.source.file}{line}" + ("" if record.source.id is None else f", there {record.source.id}")
    if record.provenance is not None:
        made = record.provenance
        facts["made by"] = ", ".join(part for part in (made.stage, made.provider, made.model) if part)
    if record.group_keys:
        facts["groups"] = ", ".join(record.group_keys)
    return {name: value for name, value in facts.items() if value}
