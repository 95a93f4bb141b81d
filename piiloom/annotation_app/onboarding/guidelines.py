"""The versioned guidelines of a project, their passages on a type, and people's questions about them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import unified_diff
from importlib.resources import files
from pathlib import Path
from typing import Final

from piiloom.annotation_app.event_log import EventLog, StoreService, guideline_of, question_of
from piiloom.corpus.store.annotation_events import NewEvent
from piiloom.corpus.store.annotation_project import (
    Guideline,
    GuidelineQuestion,
    add_guideline,
    add_question,
    load_guidelines,
    load_questions,
    newest_version,
    set_answer,
)
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError
from piiloom.foundation.yaml_files import data_folder

_HEADING: Final = re.compile(r"#{1,6}\s")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_RULE: Final = re.compile(r"[\s|:-]+")
_LONGEST: Final = 400


def passages_of(markdown: str, names: Collection[str]) -> dict[str, list[str]]:
    """Return, for each of *names*, the passages of *markdown* that name it as whole words, in their order, as Markdown of one line each.

    Headings are left out, and passages longer than a screen can spare.
    """
    passages = [one for one in _passages(markdown) if len(one) <= _LONGEST]
    wanted = {name: re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE) for name in names}
    return {name: [one for one in passages if pattern.search(one)] for name, pattern in wanted.items()}


def _passages(markdown: str) -> list[str]:
    """Split *markdown* into passages. A row of a table becomes its cells, with a dot between them."""
    found: list[str] = []
    open_paragraph = False
    for line in markdown.splitlines():
        words = line.strip().removeprefix(">").strip()
        if not words or _HEADING.match(words) or (words.startswith("|") and _RULE.fullmatch(words)):
            open_paragraph = False
        elif words.startswith("|"):
            found.append(" · ".join(cell for cell in map(str.strip, words.strip("|").split("|")) if cell))
            open_paragraph = False
        elif item := _ITEM.match(line):
            found.append(line[item.end() :].strip())
            open_paragraph = True
        elif open_paragraph:
            found[-1] += f" {words}"
        else:
            found.append(words)
            open_paragraph = True
    return found


# The tour of the app in a wheel, and in a checkout, which ``docs.making.tour`` records.
TOURS = (data_folder("annotation_app") / "tour.webm", data_folder("docs") / "images" / "annotation-tour.webm")
_LONGEST_QUESTION = 4_000
_LONGEST_GUIDELINES = 400_000


def default_markdown() -> str:
    """Return the default guidelines that ship with piiloom, as Markdown."""
    return (files("piiloom.annotation_app.onboarding") / "default_guidelines.md").read_text(encoding="utf-8")


def tour_video(places: Sequence[Path] = TOURS) -> Path | None:
    """Return the first of *places* that has the video of the app; None if all lack it."""
    return next((place for place in places if place.is_file()), None)


class Guidelines(StoreService):
    """The guidelines in the store *shared*."""

    def __init__(self, shared: SharedStore, log: EventLog) -> None:
        super().__init__(shared, log)
        self._read: tuple[int, str] | None = None  # the version in force and its Markdown, as last read

    def passages(self, names: Collection[str]) -> dict[str, list[str]]:
        """Return what the version in force says of each of *names* (``passages_of``); pages ask this at every edit."""
        with self._shared.reading() as store:
            number = newest_version(store)
            if number is None:
                return {name: [] for name in names}
            if self._read is None or self._read[0] != number:
                self._read = number, load_guidelines(store)[-1].markdown
        return passages_of(self._read[1], names)

    def ensure(self, actor: str = "piiloom") -> Guideline:
        """Return the version in force; if there is none yet, publish the default guidelines as version 1."""
        with self._shared.writing() as store:
            found = load_guidelines(store)
            return found[-1] if found else self._published(actor, 1, default_markdown())

    def versions(self) -> list[Guideline]:
        """All versions, oldest first."""
        with self._shared.reading() as store:
            return load_guidelines(store)

    def version(self, number: int) -> Guideline:
        """Return version *number*; raises ``UsageError`` if there is none."""
        for found in self.versions():
            if found.version == number:
                return found
        raise UsageError(f"there is no version {number} of the guidelines", remedy="Choose another version.")

    def publish(self, actor: str, markdown: str, *, seen: int | None = None) -> Guideline:
        """Make *markdown* the next version, in force at once.

        *seen* is the number of the version that the editor started from. Raises ``UsageError`` if there is a newer version by now,
        if nothing was changed, or if the text is empty or too long.
        """
        if not markdown.strip() or len(markdown) > _LONGEST_GUIDELINES:
            raise UsageError("The guidelines are empty or far too long", remedy=f"At most {_LONGEST_GUIDELINES} characters.")
        with self._shared.writing() as store:
            found = load_guidelines(store)
            newest = found[-1].version if found else 0
            if seen is not None and seen != newest:
                raise UsageError(
                    f"The guidelines were changed meanwhile: version {newest} is in force", remedy="Put your change into that one."
                )
            if found and found[-1].markdown == markdown:
                raise UsageError("Nothing was changed", remedy="Change the text, then publish it.")
            return self._published(actor, newest + 1, markdown)

    def changes(self, old: int, new: int) -> list[str]:
        """Return the lines of a unified diff from version *old* to *new*; raises ``UsageError`` if one does not exist."""
        left, right = self.version(old), self.version(new)
        lines = unified_diff(left.markdown.splitlines(), right.markdown.splitlines(), f"version {old}", f"version {new}", lineterm="")
        return list(lines)

    def ask(self, actor: str, text: str, record_id: str | None = None) -> GuidelineQuestion:
        """Ask a question, about a record or in general; raises ``UsageError`` if it is empty or too long."""
        asked = _said(text)
        with self._shared.writing() as store:
            event = NewEvent(actor=actor, kind="asked", record_id=record_id, guideline=newest_version(store), entry={"text": asked})
            question = question_of(self._log.append(store, [event])[0])
            add_question(store, question)
        return question

    def answer(self, actor: str, question: int, text: str) -> GuidelineQuestion:
        """Answer *question*, or replace its answer; raises ``UsageError`` if it does not exist, or *text* is empty or too long."""
        said = _said(text)
        with self._shared.writing() as store:
            found = load_questions(store, number=question)
            if not found:
                raise UsageError(f"there is no question {question}", remedy="Reload the page and choose another one.")
            entry = {"question": question, "text": said}
            event = NewEvent(actor=actor, kind="answered", record_id=found[0].record_id, guideline=newest_version(store), entry=entry)
            at = self._log.append(store, [event])[0].at
            set_answer(store, question, said, actor, at)
            return load_questions(store, number=question)[0]

    def questions(self, *, record_id: str | None = None) -> list[GuidelineQuestion]:
        """Return the questions, oldest first; optionally only those on *record_id*."""
        with self._shared.reading() as store:
            return load_questions(store, record_id=record_id)

    def _published(self, actor: str, version: int, markdown: str) -> Guideline:
        with self._shared.writing() as store:
            event = NewEvent(actor=actor, kind="guideline", guideline=version, entry={"version": version, "markdown": markdown})
            row = guideline_of(self._log.append(store, [event])[0])
            add_guideline(store, row)
        return row


def _said(text: str) -> str:
    said = text.strip()
    if not said or len(said) > _LONGEST_QUESTION:
        raise UsageError("Please write something", remedy=f"At most {_LONGEST_QUESTION} characters.")
    return said
