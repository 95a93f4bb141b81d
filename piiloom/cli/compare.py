"""``piiloom compare``: systems ranked by their predictions for the same gold file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from piiloom.cli.options import json_setting
from piiloom.cli.terminal import examples, harmless, say, say_json, say_table
from piiloom.detection.families import FAMILIES
from piiloom.evaluation.comparison.comparing import Comparison, RankedSystem
from piiloom.evaluation.comparison.table import difference_of, interval_of, notes_on, p_of, rank_of
from piiloom.evaluation.comparison_run import ComparisonSettings, TableForm, in_form, named_systems
from piiloom.evaluation.comparison_run import run_comparison as compared
from piiloom.evaluation.pages.tables import NOTHING
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import setting

EPILOG = examples(
    "piiloom compare outputs/v1/test.jsonl crf.jsonl bert.jsonl rules.jsonl",
    "piiloom compare test.jsonl 'Our CRF=crf.jsonl' BERT=bert.jsonl --by recall --cluster story",
    "piiloom compare test.jsonl crf.jsonl bert.jsonl --out outputs/systems.tex --out outputs/systems.html",
    "piiloom compare test.jsonl crf.jsonl bert.jsonl --format md",
    "piiloom compare test.jsonl --detector patterns --detector 'with rules=hybrid-offline' --plots outputs/plots",
)

# As many figures with intervals fit 80 columns beside rank, name and difference; more go into tables below.
_FIRST, _NEXT = 3, 4


class Compare(ComparisonSettings):
    """The command line of ``piiloom compare``."""

    gold: Path = setting(..., "The file with the correct annotations.", argument=True, metavar="GOLD")
    predictions: list[str] = setting(
        [], "Predictions for it, one file per system; the default name is the file's.", argument=True, metavar="[NAME=]FILE..."
    )
    form: TableForm | None = setting(None, "Form in which the table is printed.", flags="--format")
    as_json: bool = json_setting()


@takes(Compare)
def compare(asked: Compare) -> None:
    """Rank systems by their predictions for GOLD, with intervals and tests of the differences.

    Systems are files of predictions, or detectors that are run on GOLD, each in its own process, whose time, memory and cost are measured.

    Intervals are by bootstrap, p values by approximate randomisation, both over whole clusters of documents. Systems that do not
    differ share a rank. docs/evaluation.md explains the table.
    """
    comparison = compared(asked.gold, named_systems(asked.predictions), asked, FAMILIES)
    if asked.as_json or asked.form == "json":
        say_json(comparison.to_json())
    elif asked.form is not None:
        say(in_form(comparison, asked.form).rstrip("\n"))
    else:
        _print(comparison)
        for path in (*asked.out, *comparison.pictures):
            say(f"written: {path}")


def _print(comparison: Comparison) -> None:
    """Print the ranks, then the figures that did not fit, the extra columns and the notes."""
    names = sorted(comparison.headline, key=lambda name: name != comparison.by)
    if len(names) <= _FIRST:
        names = list(comparison.headline)
    say_table(_ranks(comparison, names[:_FIRST]))
    for first in range(_FIRST, len(names), _NEXT):
        say_table(_more(comparison, names[first : first + _NEXT]))
    if comparison.extra:
        say_table(_extra(comparison))
    for note in notes_on(comparison):
        say(note)


def _ranks(comparison: Comparison, names: Sequence[str]) -> Table:
    table = Table(title=f"scheme {comparison.scheme}, by {comparison.by}")
    _begin(table)
    for name in names:
        table.add_column(name.replace("_", "_\n"), justify="right")
    table.add_column("to best\np", justify="right")
    for one in comparison.systems:
        away = f"{difference_of(one)}\n{p_of(one)}" if one.p is not None else NOTHING
        table.add_row(rank_of(one), harmless(one.name), *(_figure(comparison, one, name) for name in names), away)
    return table


def _more(comparison: Comparison, names: Sequence[str]) -> Table:
    table = Table()
    _begin(table)
    for name in names:
        table.add_column(name.replace("_", "_\n"), justify="right")
    for one in comparison.systems:
        table.add_row(rank_of(one), harmless(one.name), *(_figure(comparison, one, name) for name in names))
    return table


def _extra(comparison: Comparison) -> Table:
    table = Table()
    _begin(table)
    for title in comparison.extra:
        table.add_column(harmless(title), justify="right")
    for one in comparison.systems:
        table.add_row(rank_of(one), harmless(one.name), *(harmless(cells.get(one.name, NOTHING)) for cells in comparison.extra.values()))
    return table


def _begin(table: Table) -> None:
    table.add_column("rank", justify="right")
    table.add_column("system")


def _figure(comparison: Comparison, one: RankedSystem, name: str) -> str:
    if comparison.figure(one, name) is None:
        return NOTHING
    value = f"{one.figures[name]:.4f}"
    interval = one.intervals[name]
    return f"{value}\n{interval_of(interval).strip('[]').replace(', ', '–')}" if interval else value
