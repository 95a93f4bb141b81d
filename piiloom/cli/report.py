"""``piiloom report``: the diversity of a data set, and its leaks."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from piiloom.annotation_app.figures.agreement import agreement_among
from piiloom.cli.options import json_setting, say_sight
from piiloom.cli.progress import shown
from piiloom.cli.terminal import console, examples, harmless, is_quiet, say, say_aside, say_json, say_table
from piiloom.evaluation.pages.tables import ReportTable
from piiloom.evaluation.report.folder import Report, ReportSettings, make_report
from piiloom.evaluation.report.tables import all_tables
from piiloom.foundation.command_line import takes

EPILOG = examples(
    "piiloom report --run last",
    "piiloom report --release v1 --out outputs/v1-report",
    "piiloom report published.jsonl --out outputs/published-report",
    "piiloom report published.jsonl --input-format capid --json",
)


class ReportCommand(ReportSettings):
    """The command line of ``piiloom report``."""

    as_json: bool = json_setting()


@takes(ReportCommand)
def report(asked: ReportCommand) -> None:
    """Measure diversity and leakage: wording, values, relevance, and clues from which relevance can be guessed without reading.

    Plots and self-BLEU need the extra "report" of the package; all else works without. The report quotes frequent values and
    openers of the corpus, its page (index.html) records: keep it as you keep the data.
    """
    with shown(lambda step, _: f"measuring: {step} …", wanted=not asked.as_json) as watch:
        made = make_report(asked, agreement_among, watch=watch, tell=say_sight)
    files = made.files
    if asked.as_json:
        say_json({**made.to_json(), "out": None if asked.out is None else str(asked.out), "files": list(files)})
    else:
        _print(made)
        if files:
            say("")
            say(f"written to {asked.out}: {', '.join(files)}")
    if made.install:
        say_aside(f"no plots were drawn: they need an extra: {made.install}")


def _print(made: Report) -> None:
    say(f"report on {made.source.title()}")
    for table in all_tables(made.source, made.figures):
        say("")
        say_report_table(table)


def say_report_table(table: ReportTable) -> None:
    """Print *table* and its note; its cells are texts that steer nothing."""
    drawn = Table(title=table.title)
    for place, name in enumerate(table.columns):
        drawn.add_column(name, justify="left" if place < table.texts else "right")
    for row in table.rows:
        drawn.add_row(*(Text(harmless(" ".join(cell.split()))) for cell in row))
    say_table(drawn)
    if table.note and not is_quiet():
        console().print(Text(table.note, style="dim"))
