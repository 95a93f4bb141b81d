"""Checks for texts that occur in two stories: ids, sentences, questions, and openings. A reader of a data set meets them all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from piiloom.foundation.words import words
from piiloom.foundation.yaml_files import KeyPath, YamlDocument
from piiloom.taxonomy.bank_style import StyleFinding
from piiloom.taxonomy.grammar import all_expansions
from piiloom.taxonomy.stories import Story

FEWEST_WORDS = 6  # of a sentence, without slots; shorter ones ("the house is in {state}") may be shared
OPENING_WORDS = 3

_LOOKED_AT = 20  # expansions of a wording
_SLOT = re.compile(r"\{[^{}]*\}")
_SENTENCES = re.compile(r"(?<=[.!?])\s+")


def repeat_findings(document: YamlDocument, stories: Mapping[int, Story], seen: dict[str, str]) -> Iterator[StyleFinding]:
    """Yield what the stories of a file share with one another or with earlier files.

    *seen* maps the texts of the files so far to their places and is extended. Openings are compared within one file only.
    """
    openings: dict[str, str] = {}
    for index, story in stories.items():
        path: KeyPath = ("stories", index)
        yield from _repeated([(f"story id {story.id}", (*path, "id"))], document, seen, "stands")
        yield from _repeated(_sentences(path, story), document, seen, "this sentence stands")
        yield from _repeated(_questions(path, story), document, seen, "this question stands")
        yield from _repeated(_openings(path, story), document, openings, f"an opening with the same {OPENING_WORDS} words stands")


def _repeated(
    found: Mapping[str, KeyPath] | list[tuple[str, KeyPath]], document: YamlDocument, seen: dict[str, str], what: str
) -> Iterator[StyleFinding]:
    """Yield findings for those of *found* that are in *seen*, then add the others to it. So a story may repeat itself."""
    fresh: dict[str, str] = {}
    for text, path in found.items() if isinstance(found, Mapping) else found:
        if text in seen:
            yield path, "repeat", f"{what} at {seen[text]} already; say it in other words"
        else:
            fresh.setdefault(text, document.where(path))
    seen.update(fresh)


def _sentences(path: KeyPath, story: Story) -> dict[str, KeyPath]:
    found: dict[str, KeyPath] = {}
    for number, step in enumerate(story.steps):
        for place, wording in enumerate(step.wordings):
            for text in all_expansions(wording.pattern, _LOOKED_AT):
                for sentence in _SENTENCES.split(text):
                    told = words(_SLOT.sub(" ", sentence))
                    if len(told) >= FEWEST_WORDS:
                        found.setdefault(
                            "sentence " + " ".join(words(_SLOT.sub(" X ", sentence))).casefold(), (*path, "text", number, "say", place)
                        )
    return found


def _questions(path: KeyPath, story: Story) -> dict[str, KeyPath]:
    return {
        "question " + " ".join(words(text)).casefold(): (*path, "questions", number, "ask", place)
        for number, question in enumerate(story.questions)
        for place, pattern in enumerate(question.wordings)
        for text in all_expansions(pattern, _LOOKED_AT)
    }


def _openings(path: KeyPath, story: Story) -> dict[str, KeyPath]:
    return {
        " ".join(words(_SLOT.sub(" X ", text))[:OPENING_WORDS]).casefold(): (*path, "text", 0, "say", place)
        for place, wording in enumerate(story.steps[0].wordings)
        for text in all_expansions(wording.pattern, _LOOKED_AT)
    }
