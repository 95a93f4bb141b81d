"""``piiloom report`` and ``piiloom reidentify``: the diversity of a data set, its leaks, and the people who could be recognized in it."""

from __future__ import annotations

from rich.text import Text

from piiloom.annotation_app.figures.agreement import agreement_among
from piiloom.cli.options import AsJson, say_sight
from piiloom.cli.progress import shown
from piiloom.cli.terminal import console, examples, is_quiet, say, say_aside, say_json, say_table, table_of
from piiloom.evaluation.pages.parts import ReportTable
from piiloom.evaluation.reidentification.folder import AttackSettings, attack_corpus, attack_tables
from piiloom.evaluation.report.folder import Report, ReportSettings, make_report
from piiloom.evaluation.report.tables import all_tables
from piiloom.foundation.command_line import takes
from piiloom.foundation.words import counted

REPORT_EXAMPLES = examples(
    "piiloom report --run last",
    "piiloom report --release v1 --out outputs/v1-report",
    "piiloom report published.jsonl --out outputs/published-report",
    "piiloom report published.jsonl --input-format capid --json",
)


class ReportCommand(AsJson, ReportSettings):
    """The command line of ``piiloom report``."""


@takes(ReportCommand)
def report(asked: ReportCommand) -> None:
    """Measure diversity and leakage: wording, values, relevance, and clues from which relevance can be guessed without reading.

    Plots and self-BLEU need the extra "report" of the package; all else works without. The report quotes frequent values and
    openers of the corpus, its page (index.html) records: keep it as you keep the data.
    """
    with shown(lambda step: f"measuring: {step} …", wanted=not asked.as_json) as watch:
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
    rows = [[" ".join(cell.split()) for cell in row] for row in table.rows]
    say_table(table_of(table.title, table.columns, rows, right=range(table.texts, len(table.columns))))
    if table.note and not is_quiet():
        console().print(Text(table.note, style="dim"))


REIDENTIFY_EXAMPLES = examples(
    "piiloom reidentify --release v1",
    "piiloom reidentify train.jsonl --masked-by predictions.jsonl --out outputs/attack",
    "piiloom reidentify published.jsonl --input-format capid --only-types name,location,age",
    "piiloom reidentify letters/records.jsonl --vault vault.jsonl",
    "piiloom reidentify outputs/v1-masked/train.jsonl --mask surrogates --json",
)


class Reidentify(AsJson, AttackSettings):
    """The command line of ``piiloom reidentify``."""


@takes(Reidentify)
def reidentify(asked: Reidentify) -> None:
    """Attack a corpus by fixed rules, and count the documents that remain unique.

    The attacker has all annotated values of all documents, reads the values that masking left in one, and counts the documents that fit
    (k). He has no other knowledge of the world and reads nothing that is not annotated: compare, and take no share for a person's risk.
    docs/reidentification.md has his rules.
    """
    with shown(lambda step: step, wanted=not asked.as_json) as watch:
        report = attack_corpus(asked, watch=watch, tell=say_sight)
    figures, reading = report.figures, report.reading
    if asked.as_json:
        say_json(report.to_json() | {"out": None if asked.out is None else str(asked.out), "files": list(report.files)})
    else:
        say(f"attack on {report.title}: {counted(figures.records, 'record')}, {counted(figures.documents, 'text')}")
        if any(reading.values()):
            rows, values = counted(reading["refused_rows"], "row"), counted(reading["values_without_place"], "value")
            say(f"left out: {rows} that could not be read, {values} not in the text")
        for table in attack_tables(figures):
            say("")
            say_report_table(table)
        if asked.out is not None:
            say(f"written to {asked.out}: {', '.join(report.files)}")
    if report.install is not None:
        say_aside(f"no plot was drawn: it needs an extra: {report.install}")
