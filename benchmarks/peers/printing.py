"""The tables that a benchmark prints."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from benchmarks.peers.harness import Figures, Report, Trial, cell, spread


def begin(report: Report) -> None:
    """Print what is measured, and on what."""
    head = f"{report.benchmark}, {report.date}, {dict(report.machine)}\n{dict(report.versions)} {dict(report.settings)}"
    _console().print(head, markup=False)


def show(trial: Trial, report: Report, titles: Mapping[str, str]) -> None:
    """Print the table of *trial*, its ratios, and what failed."""
    console = _console()
    results = report.results[trial.name]
    fine = {row: figures for row, figures in results.items() if "failed" not in figures}
    table = Table(title=trial.title, title_justify="left")
    table.add_column("")
    if trial.columns:
        for heading, _ in trial.columns:
            table.add_column(heading, justify="right")
        for row, figures in fine.items():
            table.add_row(titles.get(row, row), *(cell(figures) for _, cell in trial.columns))
    else:
        for row in fine:
            table.add_column(titles.get(row, row), justify="right")
        keys = {key: None for figures in fine.values() for key, value in figures.items() if isinstance(value, bool | int | float | str)}
        for key in keys:
            table.add_row(key, *(_shown(figures, key) for figures in fine.values()))
    console.print(table, markup=False)
    for row, found in report.ratios[trial.name].items():
        told = ", ".join(f"{key} {spread(*values)}" for key, values in found.items())
        console.print(f"{titles.get(trial.subject, trial.subject)} ÷ {titles.get(row, row)}: {told}", markup=False)
    for row, figures in results.items():
        if "failed" in figures:
            console.print(f"{titles.get(row, row)} could not be driven, which says nothing about it:\n{figures['failed']}", markup=False)


def _shown(figures: Figures, key: str) -> str:
    value = figures.get(key, "")
    return cell(key, ranged=True)(figures) if isinstance(value, float) else str(value)


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else 140)
