"""A table of records whose spans stand out: by colour the type, by style the relevance; by brackets where there is no colour."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from piiloom.cli.terminal import harmless, say_table
from piiloom.corpus.record import Record, Span
from piiloom.taxonomy.entity_types import Taxonomy

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
