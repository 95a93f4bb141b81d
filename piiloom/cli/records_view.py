"""The work behind ``piiloom records list`` and ``search``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from piiloom.cli.paging import rest_of_list, say_json_lines
from piiloom.cli.reading import seen_store
from piiloom.cli.sample_table import legend, marked_context, type_colours
from piiloom.cli.terminal import console, harmless, say, say_aside
from piiloom.corpus.formats.native_rows import COLUMNS, flat_row_of, row_of
from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.own_types import types_of
from piiloom.corpus.store.reading import open_to_read
from piiloom.corpus.store.record_search import RecordFilter, StoredRecord, search_records, values_there
from piiloom.corpus.store.releases import count_members, get_release
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.errors import UsageError
from piiloom.foundation.frames import Row, Rows
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.locales import resolve_locale
from piiloom.taxonomy.own_types import extended

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
            shown = _print_texts(found, options.get("text"), extended(types_of(store))) if texts else _print_lines(found)
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
        _check("--split", split, list(count_members(store, get_release(store, release))))
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


def _print_texts(found: Iterator[StoredRecord], text: str | None, taxonomy: Taxonomy) -> int:
    """Print whole texts, what was looked for standing out; gives how many."""
    to, colours, shown, seen = console(), type_colours(taxonomy), 0, set[str]()
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
