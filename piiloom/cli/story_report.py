"""The work behind ``piiloom stories check``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from piiloom.cli.terminal import say, say_json
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted
from piiloom.generation.composer.story_lint import lint_stories
from piiloom.taxonomy.bank_loading import user_sources
from piiloom.taxonomy.own_types import extended
from piiloom.taxonomy.own_types_file import read_types_file, types_beside_stories


def report_stories(path: Path, language: str, *, types: Path | None, as_json: bool) -> bool:
    """Print what is wrong with the stories at *path*, a line a finding; whether nothing is."""
    if not path.exists():
        raise UsageError(f"there is no {path}", where="PATH", remedy="Name a YAML file or a folder of them.")
    own = read_types_file(types) if types is not None else types_beside_stories(path)
    findings = lint_stories(user_sources(path), extended(own), language)
    if as_json:
        say_json({"findings": [asdict(finding) for finding in findings]})
        return not findings
    for finding in findings:
        say(str(finding))
    say(counted(len(findings), "finding") if findings else "no findings")
    return not findings
