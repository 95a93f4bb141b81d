"""``piiloom reidentify``: the people whom an attacker could recognize by the values that masking leaves."""

from __future__ import annotations

from piiloom.cli.options import json_setting, say_sight
from piiloom.cli.progress import shown
from piiloom.cli.report import say_report_table
from piiloom.cli.terminal import examples, say, say_aside, say_json
from piiloom.evaluation.reidentification.folder import AttackSettings, attack_corpus, attack_tables
from piiloom.foundation.command_line import takes
from piiloom.foundation.words import counted

EPILOG = examples(
    "piiloom reidentify --release v1",
    "piiloom reidentify train.jsonl --masked-by predictions.jsonl --out outputs/attack",
    "piiloom reidentify published.jsonl --input-format capid --only-types name,location,age",
    "piiloom reidentify letters/records.jsonl --vault vault.jsonl",
    "piiloom reidentify outputs/v1-masked/train.jsonl --mask surrogates --json",
)


class Reidentify(AttackSettings):
    """The command line of ``piiloom reidentify``."""

    as_json: bool = json_setting()


@takes(Reidentify)
def reidentify(asked: Reidentify) -> None:
    """Attack a corpus by fixed rules, and count the documents that remain unique.

    The attacker has all annotated values of all documents, reads the values that masking left in one, and counts the documents that fit
    (k). He has no other knowledge of the world and reads nothing that is not annotated: compare, and take no share for a person's risk.
    docs/reidentification.md has his rules.
    """
    with shown(lambda step, _: step, wanted=not asked.as_json) as watch:
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
