"""``piiloom records``: the records of a store listed, shown and searched; their spans stand out by colour and style, or by brackets."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from piiloom.cli.options import ListOptions, StoreOptions, json_setting, seen_store
from piiloom.cli.terminal import (
    command_group,
    console,
    examples,
    harmless,
    in_columns,
    rest_of_list,
    say,
    say_aside,
    say_json,
    say_json_lines,
    say_table,
)
from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.releases import (
    RecordConditions,
    StoredRecord,
    TextConditions,
    find_one,
    releases_of,
    search_records,
    types_of,
)
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import setting
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import extended

_LIST = (
    "piiloom records list",
    "piiloom records list --only-types health --relevance high --pair health+occupation",
    "piiloom records list --release v1 --split test --texts --limit 5",
    "piiloom records list --run last --limit 0 --json",
)
_SHOW = ("piiloom records show 3f9a0c", "piiloom records show last:17", "piiloom records show 3f9a0c --json")
_SEARCH = (
    'piiloom records search "night shift"',
    "piiloom records search asthma --in-values --relevance high",
    "piiloom records search nurse --run last --json",
)
# The width of a line of the list that is not printed on a terminal.
_WIDTH = 160
_FOUND = "underline2 bold"
_TITLES = ("span", "type", "relevance", "subtype", "whose", "value", "place", "text")

records_app = command_group("List, show and search the records of a store.", *_LIST[:2], *_SHOW[:1], *_SEARCH[:1])


class RecordLines(ListOptions):
    """A part of a list of records."""

    as_json: bool = json_setting("JSON lines, one a record,")


class Listing(RecordLines, RecordConditions):
    """The options of ``records list``."""

    texts: bool = setting(False, "Print whole texts with their spans instead of a line for each record.")


class Search(RecordLines, TextConditions):
    """The options of ``records search``."""

    text: str = setting(..., "Text to find, as it is, in any case.", metavar="TEXT", argument=True)


class ShowRecord(StoreOptions):
    """The options of ``records show``."""

    record: str = setting(..., "A record's id or its first six letters or more, or RUN:INDEX.", metavar="ID", argument=True)


@records_app.command("list", epilog=examples(*_LIST))
@takes(Listing)
def list_records(asked: Listing) -> None:
    """List records, a line each, in the order of their runs and plans; imports come last.

    Only records that meet every option given. With --json each record is a native row, on a line of its own.
    """
    _print_found(asked, asked.part(RecordConditions), texts=asked.texts)


@records_app.command("show", epilog=examples(*_SHOW))
@takes(ShowRecord)
def show(asked: ShowRecord) -> None:
    """Show one record: its text with the spans marked, its question, each span, its plan, and its releases.

    Of several revisions the newest is shown. piiloom trace shows how it was made.
    """
    with seen_store(asked.store) as (store, place):
        found = find_one(store, asked.record)
        releases, taxonomy = releases_of(store, found.record.id, found.run_id), extended(types_of(store))
    if asked.as_json:
        say_json({**place, "record": _to_json(found), "releases": [asdict(release) for release in releases]})
        return
    say(_head(found) + "\n")
    _print_texts_of(console(), found.record, type_colours(taxonomy))
    if found.record.spans:
        say("\n" + "\n".join(in_columns([_TITLES, *_span_cells(found.record)], left=range(len(_TITLES)))))
    say("")
    for name, value in _facts(found.record).items():
        say(f"  {name:<9} {value}")
    for release in releases:
        older = "" if release.revision == found.record.revision else f", revision {release.revision}"
        say(f"  release   {release.name}: {release.split}{older}")


@records_app.command("search", epilog=examples(*_SEARCH))
@takes(Search)
def search(asked: Search) -> None:
    """Find records with a text in their context or question, and print their texts with the spans marked.

    With --in-values the text must be in a span, of --only-types and --relevance if these are given. With --json each record is a
    native row, on a line of its own.
    """
    _print_found(asked, asked.part(TextConditions), texts=True)


def _print_found(asked: ListOptions, conditions: RecordConditions, *, texts: bool) -> None:
    """Print the records of the store that meet *conditions*."""
    with seen_store(asked.store) as (store, _):
        total, found = search_records(store, conditions, limit=asked.limit, offset=asked.offset)
        if asked.as_json:
            shown = say_json_lines(map(_to_json, found))
        else:
            shown = _print_texts(found, getattr(conditions, "text", None), extended(types_of(store))) if texts else _print_lines(found)
    if not total:
        (say_aside if asked.as_json else say)("no record matches" if any(conditions.given().values()) else f"no records in {asked.store}")
    elif more := rest_of_list(total, shown, offset=asked.offset):
        say_aside(more)


def _to_json(found: StoredRecord) -> dict[str, Any]:
    """Return a record as its native row, with its place in the store."""
    return {**row_of(found.record), "run": found.run_id, "plan_index": found.plan_index, "status": found.status}


def _place(found: StoredRecord) -> str:
    return "import" if found.run_id is None else found.run_id if found.plan_index is None else f"{found.run_id}:{found.plan_index}"


def _print_lines(found: Iterable[StoredRecord]) -> int:
    """Print a line for each record as it comes; return their number."""
    width, shown = console().width if sys.stdout.isatty() else _WIDTH, 0
    for shown, one in enumerate(found, 1):
        if shown == 1:
            say(_line("id", "from", "status", "pair", "spans", "text"))
        record = one.record
        pair = "+".join(record.plan.pair) if record.plan else "-"
        high = sum(span.relevance == "high" for span in record.spans)
        spans = f"{len(record.spans)} ({high} high)" if high else f"{len(record.spans)}"
        line = _line(record.id, _place(one), one.status, pair, spans, "")
        say((line + " ".join(record.context[:_WIDTH].split())[: max(0, width - len(line))]).rstrip())
    return shown


def _line(name: str, place: str, status: str, pair: str, spans: str, text: str) -> str:
    return f"{name:<24}  {place:<19}  {status:<10}  {pair:<30}  {spans:<11}  {text}"


def _print_texts(found: Iterable[StoredRecord], text: str | None, taxonomy: Taxonomy) -> int:
    """Print whole texts with the matches of *text* highlighted; return their number."""
    to, colours, shown, seen = console(), type_colours(taxonomy), 0, set[str]()
    pattern = re.compile(re.escape(harmless(text)), re.IGNORECASE) if text else None
    for shown, one in enumerate(found, 1):
        if shown > 1:
            to.print()
        to.print(Text(harmless(_head(one)), style="bold" if to.color_system else ""), soft_wrap=True)
        _print_texts_of(to, one.record, colours, pattern)
        seen.update(span.entity_type for span in one.record.spans)
    if seen and to.color_system is not None:
        to.print()
        to.print(legend(colours, seen))
    return shown


def _head(found: StoredRecord) -> str:
    """Return the line above a record's text."""
    record = found.record
    parts = [record.id, _place(found), found.status, *(["+".join(record.plan.pair)] if record.plan else []), record.locale]
    return "  ".join([*parts, *([f"revision {record.revision}"] if record.revision else [])])


def _print_texts_of(to: Console, record: Record, colours: dict[str, str], pattern: re.Pattern[str] | None = None) -> None:
    """Print context and question with spans marked, and with the matches of *pattern* highlighted."""
    lines = [marked_context(record, colours, coloured=to.color_system is not None)]
    if record.question is not None:
        lines.append(Text(f"→ {harmless(record.question)}", style="italic"))
    for line in lines:
        if pattern is not None:
            line.highlight_regex(pattern, _FOUND)
        to.print(line, soft_wrap=not to.is_terminal)


def _span_cells(record: Record) -> list[tuple[str, ...]]:
    return [
        (
            span.id,
            span.entity_type,
            *(value or "-" for value in (span.relevance, span.subtype, span.subject, span.value_id)),
            f"{span.start}-{span.end}",
            " ".join(span.text_in(record.context).split()),
        )
        for span in record.spans
    ]


def _facts(record: Record) -> dict[str, str]:
    """Return the facts about a record besides its texts, by name."""
    facts = {"groups": ", ".join(record.group_keys)}
    if record.plan is not None:
        planned = {name: value for name, value in asdict(record.plan).items() if name != "pair" and value is not None}
        facts["plan"] = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in planned.items())
    if (source := record.source) is not None:
        line = "" if source.line is None else f", line {source.line}"
        facts["source"] = f"{source.file}{line}" + ("" if source.id is None else f", there {source.id}")
    if (made := record.provenance) is not None:
        facts["made by"] = ", ".join(part for part in (made.stage, made.provider, made.model) if part)
    return {name: facts[name] for name in ("plan", "source", "made by", "groups") if facts.get(name)}


# Told apart on dark and on light backgrounds; the last five are for own types.
_COLOURS = (
    "dark_orange3",
    "red3",
    "medium_purple3",
    "green4",
    "dodger_blue2",
    "dark_cyan",
    "deep_pink3",
    "orange4",
    "magenta3",
    "steel_blue",
    "yellow4",
    "blue_violet",
    "grey53",
    "cyan4",
    "indian_red",
    "spring_green4",
    "deep_sky_blue3",
    "dark_goldenrod",
    "plum4",
    "hot_pink3",
)
_STYLES = {"high": "bold reverse", "low": "underline", None: ""}


def print_samples(console: Console, records: Iterable[Record], taxonomy: Taxonomy) -> None:
    """Print *records* with their marked contexts and questions, and what the marks mean."""
    colours = type_colours(taxonomy)
    coloured = console.color_system is not None
    table = Table(show_lines=True, expand=True)
    table.add_column("Pair, topic", ratio=1)
    table.add_column("Context and question", ratio=5)
    seen: set[str] = set()
    for record in records:
        seen.update(span.entity_type for span in record.spans)
        table.add_row(_plan(record), Text("\n\n").join([marked_context(record, colours, coloured=coloured), *_question(record)]))
    say_table(table, console)
    if coloured:
        console.print(legend(colours, seen))


def type_colours(taxonomy: Taxonomy) -> dict[str, str]:
    """Give each PII type its colour, by its place in the taxonomy."""
    return {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(taxonomy.types)}


def marked_context(record: Record, colours: dict[str, str], *, coloured: bool) -> Text:
    """Give the context with its spans marked; nothing in it is read as markup or reaches the terminal as a control code."""
    text, at = Text(), 0
    for span in record.spans:
        text.append(harmless(record.context[at : span.start]))
        value = harmless(span.text_in(record.context))
        if coloured:
            text.append(value, style=_style(span, colours))
        else:
            text.append(f"[{value}|{span.entity_type}{', ' + span.relevance if span.relevance else ''}]")
        at = span.end
    text.append(harmless(record.context[at:]))
    return text


def _style(span: Span, colours: dict[str, str]) -> str:
    return f"{_STYLES[span.relevance]} {colours.get(span.entity_type, '')}".strip()


def _question(record: Record) -> list[Text]:
    return [] if record.question is None else [Text(f"→ {harmless(record.question)}", style="italic")]


def _plan(record: Record) -> Text:
    if record.plan is None:
        return Text(harmless(record.id))
    parts = [" + ".join(record.plan.pair), *(part for part in (record.plan.topic, record.plan.subtopic) if part)]
    return Text(harmless("\n".join(parts)))


def legend(colours: dict[str, str], seen: set[str]) -> Text:
    """Say what the marks mean, for the types that were *seen*."""
    line = Text().append("high relevance", style=_STYLES["high"]).append("  ").append("low relevance", style=_STYLES["low"])
    for name, colour in colours.items():
        if name in seen:
            line.append("  ").append(name, style=colour)
    return line
