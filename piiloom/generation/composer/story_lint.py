"""The linter of stories: the checks of ``taxonomy.bank_lint``, leaks in questions, and the findings of trial texts."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources.abc import Traversable
from pathlib import Path

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.foundation.yaml_files import KeyPath, key_name, read_document, validate_document
from piiloom.generation.composer.story_leaks import leak_findings
from piiloom.generation.composer.story_trials import TRIALS, trial_findings, try_story
from piiloom.taxonomy.bank_files import BankFile
from piiloom.taxonomy.bank_lint import Finding, lint_files
from piiloom.taxonomy.bank_loading import load_bank, user_sources
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.locales import Locale, load_locales
from piiloom.taxonomy.stories import Story
from piiloom.taxonomy.story_checks import story_faults
from piiloom.taxonomy.story_loading import load_stories
from piiloom.taxonomy.story_reading import read_story
from piiloom.taxonomy.story_style import place_of

# Rules whose findings make a bank unusable; all others concern style.
_REFUSED = frozenset({"shape", "pattern"})


def locale_of(language: str) -> Locale:
    """Return the locale in which stories of *language* are tried; raises ``UsageError`` if the composer does not write it."""
    found = {locale.language: locale for locale in reversed(list(load_locales().values())) if locale.composer}
    if language not in found:
        raise UsageError(f"the composer does not write {language!r}", where="--language", remedy=f"Known: {', '.join(sorted(found))}.")
    return found[language]


def lint_stories(sources: Iterable[Traversable | Path], taxonomy: Taxonomy, language: str = "en", *, trials: int = TRIALS) -> list[Finding]:
    """Return all findings in the bank files *sources*. Stories without faults of form are also written *trials* times."""
    locale, known = locale_of(language), list(sources)
    findings = lint_files(known, taxonomy, language)
    for source in known:
        findings.extend(_tried(source, taxonomy, locale, trials))
    places = {source.name: place for place, source in enumerate(known)}
    return sorted(findings, key=lambda finding: (places.get(finding.file, 0), finding.line or 0))


def lint_bank(path: Path, taxonomy: Taxonomy) -> tuple[list[Finding], bool]:
    """Return the findings of *path*, a bank of the user's own, and whether the composer can use it.

    Raises ``UsageError`` when there is no such file or folder and ``ConfigError`` when the folder has no bank file.
    """
    if not path.exists():
        raise UsageError(f"there is no {path}", where="--bank", remedy="Name a YAML file or a folder of them.")
    findings = lint_stories(user_sources(path), taxonomy)
    usable = not any(finding.rule in _REFUSED for finding in findings)
    if usable:  # ids that what ships has already are refused here
        load_bank("en", path, taxonomy)
        load_stories("en", path, taxonomy)
    return findings, usable


def _tried(source: Traversable | Path, taxonomy: Taxonomy, locale: Locale, trials: int) -> list[Finding]:
    try:
        document = read_document(source)
        parsed = validate_document(document, BankFile)
    except ConfigError:
        return []  # reported by ``lint_files``
    findings: list[Finding] = []
    for index, entry in enumerate(parsed.stories):
        path = ("stories", index)
        if any(True for _ in story_faults(path, entry, taxonomy, locale.language)):
            continue
        story = read_story(entry, document.where(path))
        for place, rule, message in leak_findings(path, story, locale.phone_region):
            findings.append(Finding(rule=rule, file=document.file, line=document.line(place), entry=key_name(place), message=message))
        for key, message in trial_findings(story, try_story(story, locale.code, taxonomy, trials)):
            line, where = document.line(_place(path, story, key)), f"{entry.id} {key}"
            findings.append(Finding(rule="trial", file=document.file, line=line, entry=where, message=message))
    return findings


def _place(path: KeyPath, story: Story, key: str) -> KeyPath:
    """Return the key path of *key*, such as "questions[2]", "facts.home" or "text"."""
    name, dot, fact = key.partition(".")
    if dot:
        return place_of(path, story, fact)
    name, bracket, number = key.partition("[")
    return (*path, name, int(number[:-1])) if bracket else (*path, name)
