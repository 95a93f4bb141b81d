"""The lint of banks: validity, style and coverage. ``python -m piiloom.taxonomy.bank_lint [FILE…]`` prints the findings.

A ``Finding`` names the rule, the file and line, and the entry. It quotes no texts.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import KeyPath, YamlDocument, key_name, read_document, validate_document
from piiloom.taxonomy.bank_checks import BankFile, FrameEntry, bank_faults
from piiloom.taxonomy.bank_loading import bank_languages, load_bank, shipped_sources
from piiloom.taxonomy.bank_style import style_findings
from piiloom.taxonomy.entity_types import Taxonomy, shipped_taxonomy
from piiloom.taxonomy.scenarios import Bank
from piiloom.taxonomy.stories import Story
from piiloom.taxonomy.story_bank import story_sources
from piiloom.taxonomy.story_checks import story_faults
from piiloom.taxonomy.story_reading import read_story
from piiloom.taxonomy.story_style import repeat_findings, story_style

SCENARIOS_PER_PAIR = 6
FRAMES_PER_SUBTYPE = 8
# Banks of other languages show that a locale needs nothing but data. They need not cover every pair and subtype.
_FULL_LANGUAGES = ("en",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One violation. ``entry`` is the key path in the file.

    If something is missing, ``entry`` is the pair or subtype that lacks it, and ``line`` is None.
    """

    rule: str
    file: str
    line: int | None
    entry: str
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.entry}: {self.message} [{self.rule}]"


def lint_files(sources: Iterable[Traversable | Path], taxonomy: Taxonomy, language: str = "en") -> list[Finding]:
    """Return the violations in *sources*, file by file: what cannot be read or used, then style, then repeated texts."""
    findings: list[Finding] = []
    seen: dict[str, str] = {}
    for source in sources:
        try:
            document = read_document(source)
            parsed = validate_document(document, BankFile)
        except ConfigError as error:
            file, _, line = (error.where or source.name).partition(":")
            findings.append(
                Finding(rule="shape", file=file, line=int(line) if line.isdigit() else None, entry="document", message=error.message)
            )
            continue
        faults = [_finding(document, path, "pattern", message) for path, message in bank_faults(parsed, taxonomy, language)]
        findings.extend(faults)
        if not faults:
            findings.extend(_finding(document, *found) for found in style_findings(parsed, taxonomy, language))
        findings.extend(_repeats(document, parsed, seen))
        findings.extend(_story_findings(document, parsed, taxonomy, language, seen))
    return findings


def _story_findings(document: YamlDocument, parsed: BankFile, taxonomy: Taxonomy, language: str, seen: dict[str, str]) -> Iterator[Finding]:
    """Yield style findings on the valid stories, and what repeats texts of this or an earlier file (*seen*)."""
    readable: dict[int, Story] = {}
    for index, entry in enumerate(parsed.stories):
        path = ("stories", index)
        if not any(True for _ in story_faults(path, entry, taxonomy, language)):
            story = readable[index] = read_story(entry, document.where(path))
            yield from (_finding(document, *found) for found in story_style(path, story, taxonomy, language))
    yield from (_finding(document, *found) for found in repeat_findings(document, readable, seen))


def missing_from(bank: Bank, taxonomy: Taxonomy) -> Iterator[Finding]:
    """Yield the pairs with too few scenarios, and the subtypes with too few frames of their own."""
    for pair in taxonomy.pairs:
        found = len(bank.for_pair(pair))
        if found < SCENARIOS_PER_PAIR:
            message = f"has {found} of at least {SCENARIOS_PER_PAIR} scenarios"
            yield Finding(rule="coverage", file="scenarios", line=None, entry="+".join(pair), message=message)
    for entity_type in taxonomy.types.values():
        for subtype in entity_type.subtypes:
            found = len(bank.frames_by_slot.get((entity_type.name, subtype.name), ()))
            if found < FRAMES_PER_SUBTYPE and subtype.name != "asked_for":
                message = f"has {found} of at least {FRAMES_PER_SUBTYPE} frames"
                yield Finding(rule="coverage", file="asides", line=None, entry=f"{entity_type.name}.{subtype.name}", message=message)


@cache
def lint_shipped(language: str) -> tuple[Finding, ...]:
    """Return the violations in the shipped bank of *language*. They are cached in the process, since the lint takes seconds."""
    taxonomy = shipped_taxonomy()
    findings = lint_files((*shipped_sources(language), *story_sources(language)), taxonomy, language)
    if language in _FULL_LANGUAGES and not findings:
        findings.extend(missing_from(load_bank(language, None, taxonomy), taxonomy))
    return tuple(findings)


def _finding(document: YamlDocument, path: KeyPath, rule: str, message: str) -> Finding:
    return Finding(rule=rule, file=document.file, line=document.line(path), entry=key_name(path), message=message)


def _repeats(document: YamlDocument, parsed: BankFile, seen: dict[str, str]) -> Iterator[Finding]:
    """Yield patterns and ids that occur twice in the files read so far. *seen* maps texts to places and is extended."""
    for path, text in _texts(parsed):
        earlier = seen.get(text)
        if earlier is None:
            seen[text] = document.where(path)
        else:
            yield _finding(document, path, "repeat", f"stands at {earlier} already")


def _texts(parsed: BankFile) -> Iterator[tuple[KeyPath, str]]:
    for index, entry in enumerate(parsed.scenarios):
        path = ("scenarios", index)
        yield (*path, "id"), f"id {entry.id}"
        for name, patterns in entry.tells.items():
            yield from (((*path, "tells", name, n), text) for n, text in enumerate(patterns))
        yield from (((*path, "stakes", n), text) for n, text in enumerate(entry.stakes))
        for level, questions in entry.questions:
            yield from (((*path, "questions", level, n), text) for n, text in enumerate(questions))
    for index, frame in enumerate(parsed.frames):
        yield ("frames", index), frame.text if isinstance(frame, FrameEntry) else frame
    for name in ("chatter", "distractors"):
        yield from ((("talk", name, n), text) for n, text in enumerate(getattr(parsed.talk, name)))


def main(arguments: Sequence[str]) -> int:
    """Print the findings on the named files, or on the shipped banks if none is named. Return 1 if there are any, else 0."""
    if arguments:
        findings = lint_files([Path(name) for name in arguments], shipped_taxonomy())
    else:
        findings = [finding for language in bank_languages() for finding in lint_shipped(language)]
    rules = Counter(finding.rule for finding in findings)
    sys.stdout.writelines(f"{finding}\n" for finding in findings)
    sys.stdout.write(f"{len(findings)} findings {dict(rules)}\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
