"""``piiloom doctor``: checks of the installation, the keys and servers, the store, and banks and types of your own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from piiloom.cli.options import StoreOptions
from piiloom.cli.terminal import examples, say_result, table_of
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import OptionalPath, setting
from piiloom.generation.composer.story_lint import lint_bank
from piiloom.generation.running.health_checks import Check, described_type, health_checks
from piiloom.taxonomy.bank_lint import Finding
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.own_types import OwnTypes, extended, fits_an_aside
from piiloom.taxonomy.own_types_file import has_bank, read_types_file
from piiloom.taxonomy.story_bank import StoryBank

if TYPE_CHECKING:
    from rich.table import Table

DOCTOR_EXAMPLES = examples(
    "piiloom doctor",
    "piiloom doctor --base-url http://localhost:11434/v1",
    "piiloom doctor --base-url http://localhost:8080/v1 --model qwen3",
    "piiloom doctor --store other.duckdb --json",
    "piiloom doctor --bank my_bank",
    "piiloom doctor --types my_types.yaml --bank my_bank",
)


_COLOURS = {"ok": "green", "note": "cyan", "warning": "yellow", "failed": "bold red"}
# The number of values that are drawn of an own type, and the number below which a value will soon be in many records.
_FEW = 50


class DoctorOptions(StoreOptions):
    """The options of ``piiloom doctor``."""

    base_url: str | None = setting(None, "Address of a compatible server: http://localhost:11434/v1.", metavar="URL")
    model: str | None = setting(None, "A model of that server; tiny calls find out which response formats it takes.")
    bank: OptionalPath = setting(None, "Your own scenarios and sentences to check: a bank file, or a folder of them.", metavar="DIR")
    types: OptionalPath = setting(None, "Your own entity types to check (docs/own-types.md).", metavar="YAML")


@takes(DoctorOptions)
def doctor(asked: DoctorOptions) -> None:
    """Check Python, packages, provider keys (by name only), servers, the store and the scenario bank; with --bank or --types, your own.

    Servers are asked only where a key is set or --base-url is given, and never for anything that costs
    money; only --base-url with --model sends a few tiny calls to find out which response formats the server takes. Opening a store
    of an older schema upgrades it after a backup, as every command does.
    """
    if asked.types is not None:
        usable = _report_types(asked.types, asked.bank, as_json=asked.as_json)
    elif asked.bank is not None:
        usable = _report_bank(asked.bank, as_json=asked.as_json)
    else:
        checks = list(health_checks(asked.store, base_url=asked.base_url, model=asked.model))
        usable = all(check.status != "failed" for check in checks)
        data = {"healthy": usable, "checks": [asdict(check) for check in checks]}
        say_result(data, _table(checks), as_json=asked.as_json)
    if not usable:
        raise typer.Exit(1)


def _table(checks: Sequence[Check]) -> Table:
    table = table_of(None, ("check", "status", "what was found"), [(check.name, f"{check.status}", check.detail) for check in checks])
    for row, check in zip(table.rows, checks, strict=True):
        row.style = _COLOURS[check.status]
    return table


def _report_bank(path: Path, *, as_json: bool) -> bool:
    """Print the faults of the bank at *path* by file and line; return whether the composer can use it.

    Raises ``UsageError`` when there is no such file or folder and ``ConfigError`` when the folder has no bank file.
    """
    findings, usable = lint_bank(path, shipped_taxonomy())
    found = _findings_table(findings) if findings else "no findings: the composer can use this bank"
    say_result({"usable": usable, "findings": [asdict(finding) for finding in findings]}, found, as_json=as_json)
    return usable


def _findings_table(findings: Sequence[Finding]) -> Table:
    """Return a table with a row for each finding."""
    places = [one.file if one.line is None else f"{one.file}:{one.line}" for one in findings]
    rows = [(place, one.entry, one.rule, one.message) for place, one in zip(places, findings, strict=True)]
    return table_of(f"{len(findings)} findings", ("where", "entry", "rule", "what"), rows)


def _report_types(path: Path, bank: Path | None, *, as_json: bool) -> bool:
    """Print the types of the file at *path*, and the faults of *bank* under them; return whether both can be used.

    Raises ``ConfigError`` (file, line, key) for a types file that cannot be used.
    """
    own = read_types_file(path)
    bank = path if bank is None and has_bank(path) else bank
    taxonomy = extended(own)
    findings, usable = ([], True) if bank is None else lint_bank(bank, taxonomy)
    stories = Counter(story.pair for story in StoryBank("en", bank, taxonomy).own) if usable else Counter()
    told = [described_type(one, taxonomy, stories) for one in own]
    data = {"usable": usable, "types": told, "findings": [asdict(finding) for finding in findings]}
    faults = _findings_table(findings) if findings else None if bank is None else f"no findings in {bank}"
    say_result(data, _types_table(told), *_notes(own, told), faults, as_json=as_json)
    return usable


def _types_table(told: list[dict[str, Any]]) -> Table:
    rows = []
    for one in told:
        pairs = ", ".join(f"{pair} ({count})" for pair, count in one["pairs"].items()) or "none: asides only"
        for place, subtype in enumerate(one["subtypes"]):
            number = "" if subtype["values"] is None else f", {subtype['values']:,}"
            drawn = "; ".join(subtype["drawn"]) or "asked of the model"
            first = (one["name"], pairs) if place == 0 else ("", "")
            rows.append((first[0], subtype["slot"], f"{subtype['generator']}{number}", drawn, first[1]))
    columns = ("type", "slot in asides", "values", "as drawn", "pairs (stories in the bank)")
    return table_of("types that this file adds", columns, rows, ruled=True)


def _notes(own: OwnTypes, told: list[dict[str, Any]]) -> Iterator[str]:
    for one, about in zip(own, told, strict=True):
        for subtype in one.subtypes:
            number = subtype.generator.count()
            if number is not None and number < _FEW:
                yield f"note: {one.name}.{subtype.name} has {number} values: each will stand in many records"
        if one.asks_model():
            yield f"note: values of {one.name} are asked of the model, so the composer cannot write about it"
        lacking = [pair for pair, count in about["pairs"].items() if not count]
        if lacking and fits_an_aside(one) and len(lacking) == len(about["pairs"]):
            yield f"note: no story is about {one.name}: the composer mentions its values beside the stories, with low relevance"
        elif lacking and not one.asks_model():
            yield f"note: the composer needs a story in a --bank of your own for {', '.join(lacking)}; a model needs none"
