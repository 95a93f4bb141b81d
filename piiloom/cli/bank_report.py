"""The work behind ``piiloom doctor --bank``: lint a bank of the user's own, file by file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from piiloom.cli.terminal import harmless, say, say_json, say_table
from piiloom.foundation.errors import UsageError
from piiloom.generation.composer.story_lint import lint_stories
from piiloom.taxonomy.bank_lint import Finding
from piiloom.taxonomy.bank_loading import load_bank, user_sources
from piiloom.taxonomy.entity_types import Taxonomy, shipped_taxonomy
from piiloom.taxonomy.story_loading import load_stories

# What makes a bank unusable; everything else is a matter of style.
_REFUSED = frozenset({"shape", "pattern"})


def report_bank(path: Path, *, as_json: bool) -> bool:
    """Print what is wrong with the bank at *path*, by file and line; whether the composer can use it.

    Raises ``UsageError`` when there is no such file or folder and ``ConfigError`` when the folder has no bank file.
    """
    findings, usable = lint_bank(path, shipped_taxonomy())
    if as_json:
        say_json({"usable": usable, "findings": [asdict(finding) for finding in findings]})
    elif findings:
        say_table(findings_table(findings))
    else:
        say("no findings: the composer can use this bank")
    return usable


def lint_bank(path: Path, taxonomy: Taxonomy) -> tuple[list[Finding], bool]:
    """What is wrong with the bank at *path* by the types of *taxonomy*, and whether the composer can use it; raises as ``report_bank``."""
    if not path.exists():
        raise UsageError(f"there is no {path}", where="--bank", remedy="Name a YAML file or a folder of them.")
    findings = lint_stories(user_sources(path), taxonomy)
    usable = not any(finding.rule in _REFUSED for finding in findings)
    if usable:  # ids that what ships has already are refused here
        load_bank("en", path, taxonomy)
        load_stories("en", path, taxonomy)
    return findings, usable


def findings_table(findings: Sequence[Finding]) -> Table:
    """One row a finding."""
    table = Table(title=f"{len(findings)} findings")
    for column in ("where", "entry", "rule", "what"):
        table.add_column(column)
    for finding in findings:
        place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
        table.add_row(*(harmless(text) for text in (place, finding.entry, finding.rule, finding.message)))
    return table
