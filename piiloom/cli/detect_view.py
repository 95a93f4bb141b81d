"""What ``piiloom detect`` prints when it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from piiloom.cli.detect_options import DetectCommand
from piiloom.cli.run_summary import dollars, rate_text
from piiloom.cli.terminal import harmless, say, say_json, say_table
from piiloom.detection.running.progress import DetectionReport
from piiloom.detection.running.unfinished import REJECTS
from piiloom.foundation.peak_memory import peak_bytes
from piiloom.foundation.words import counted

_SHOWN = 15
_TELLING = 100  # documents: of fewer, most of the time goes into reading the catalogue


def print_detection(report: DetectionReport, asked: DetectCommand) -> None:
    """Print *report*."""
    if asked.as_json:
        say_json({"input": str(asked.read_from), "detector": asked.detector, **report.to_json(), "peak_bytes": peak_bytes()})
        return
    figures = report.figures
    table = Table(title=f"{asked.detector} in {harmless(asked.read_from.name)}")
    table.add_column("type")
    table.add_column("spans", justify="right")
    kinds = figures["subtypes"] or figures["types"]  # not all detectors know the catalogue
    for name, count in list(kinds.items())[:_SHOWN]:
        table.add_row(harmless(name), f"{count:,}")
    rest = figures["spans"] - sum(list(kinds.values())[:_SHOWN])
    if rest:
        table.add_row("all others", f"{rest:,}")
    say_table(table)
    say(_documents(report))
    for line in _asides(figures, report):
        say(line)
    for path in report.files:
        say(f"  {path}")


def _documents(report: DetectionReport) -> str:
    figures, rate = report.figures, report.documents_per_second
    said = f"{counted(figures['documents'], 'document')}, {counted(figures['spans'], 'span')} in {figures['with_spans']:,} of them"
    if figures["validated"]:
        said += f", {figures['validated']:,} with a valid check digit or the like"
    slow_start = figures["documents"] - report.kept < _TELLING
    how = f"{report.seconds:.1f} s" + (f", {rate_text(rate)}" if rate is not None and not slow_start else "")
    return f"{said}; {how}" + (f", {counted(report.kept, 'document')} done before" if report.kept else "")


def _asides(figures: Mapping[str, Any], report: DetectionReport) -> list[str]:
    said = []
    if figures["rejected"]:
        said.append(f"not read: {figures['rejected']:,} of the rows or files, with their lines and reasons in {_named(report, REJECTS)}")
    if figures["failed"]:
        said.append(f"not detected: {counted(figures['failed'], 'document')}, with the reasons in {_named(report, REJECTS)}")
    if figures["repeated_ids"]:
        said.append(f"{counted(figures['repeated_ids'], 'document')} had the id of an earlier one, and got another: ID~2 …")
    if figures["overlapping"]:
        said.append(f"{counted(figures['overlapping'], 'span')} left out: they overlap a surer one")
    if figures["set_aside"]:
        reasons = ", ".join(f"{harmless(reason)} {count:,}" for reason, count in figures["set_aside"].items())
        said.append(f"set aside by the detector: {reasons}")
    if report.model is not None:
        answered, replayed = report.model["answered"], report.model["replayed"]
        cost = dollars(report.model["cost_usd"] + report.model["charged_usd"])
        said.append(f"model: {counted(answered, 'answer')}, {replayed:,} taken from the store, {cost}")
    if (loss := figures.get("loss")) is not None:
        said.append(f"the format does not keep: {', '.join(loss['fields'])}")
        if loss["entries"]:
            said.append(f"lost in the format: {counted(len(loss['entries']), 'value')} (release.json lists them)")
    return said


def _named(report: DetectionReport, ending: str) -> str:
    return next((path.name for path in report.files if path.name.endswith(ending)), ending)
