"""A comparison on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from piiloom.cli.terminal import harmless, say, say_table
from piiloom.evaluation.comparison.comparing import Comparison, RankedSystem
from piiloom.evaluation.comparison.table import NOTHING, difference_of, interval_of, notes_on, p_of, rank_of

# As many figures with intervals fit 80 columns beside rank, name and difference; more go into tables below.
_FIRST, _NEXT = 3, 4


def print_comparison(comparison: Comparison, extra_columns: Mapping[str, Mapping[str, str]], extra_notes: Sequence[str] = ()) -> None:
    """Print the ranks, then the figures that did not fit, the extras (see ``comparison_table``) and what the figures rest on."""
    names = sorted(comparison.headline, key=lambda name: name != comparison.by)
    if len(names) <= _FIRST:
        names = list(comparison.headline)
    say_table(_ranks(comparison, names[:_FIRST]))
    for first in range(_FIRST, len(names), _NEXT):
        say_table(_more(comparison, names[first : first + _NEXT]))
    if extra_columns:
        say_table(_extra(comparison, extra_columns))
    for note in (*notes_on(comparison), *extra_notes):
        say(note)


def _ranks(comparison: Comparison, names: Sequence[str]) -> Table:
    table = Table(title=f"scheme {comparison.scheme}, by {comparison.by}")
    _begin(table)
    for name in names:
        table.add_column(name.replace("_", "_\n"), justify="right")
    table.add_column("to best\np", justify="right")
    for one in comparison.systems:
        away = f"{difference_of(one)}\n{p_of(one)}" if one.p is not None else NOTHING
        table.add_row(rank_of(one), harmless(one.name), *(_figure(one, name) for name in names), away)
    return table


def _more(comparison: Comparison, names: Sequence[str]) -> Table:
    table = Table()
    _begin(table)
    for name in names:
        table.add_column(name.replace("_", "_\n"), justify="right")
    for one in comparison.systems:
        table.add_row(rank_of(one), harmless(one.name), *(_figure(one, name) for name in names))
    return table


def _extra(comparison: Comparison, extra_columns: Mapping[str, Mapping[str, str]]) -> Table:
    table = Table()
    _begin(table)
    for title in extra_columns:
        table.add_column(harmless(title), justify="right")
    for one in comparison.systems:
        table.add_row(rank_of(one), harmless(one.name), *(harmless(cells.get(one.name, NOTHING)) for cells in extra_columns.values()))
    return table


def _begin(table: Table) -> None:
    table.add_column("rank", justify="right")
    table.add_column("system")


def _figure(one: RankedSystem, name: str) -> str:
    value = f"{one.figures[name]:.4f}"
    interval = one.intervals[name]
    return f"{value}\n{interval_of(interval).strip('[]').replace(', ', '–')}" if interval else value
