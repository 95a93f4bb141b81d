"""What stands in two stories: ids, sentences, questions, and the first words of openings. A reader of a data set meets them all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from piiloom.foundation.words import words
from piiloom.foundation.yaml_files import KeyPath, YamlDocument
from piiloom.taxonomy.bank_style import StyleFinding
from piiloom.taxonomy.grammar import all_expansions
from piiloom.taxonomy.stories import Story

FEWEST_WORDS = 6  # of a sentence that two stories may not share, slots not counted: "the house is in {state}" is anybody's
OPENING_WORDS = 3

_LOOKED_AT = 20  # expansions of a wording
_SLOT = re.compile(r"\{[^{}]*\}")
_SENTENCES = re.compile(r"(?<=[.!?])\s+")


def repeat_findings(document: YamlDocument, stories: Mapping[int, Story], seen: dict[str, str]) -> Iterator[StyleFinding]:
    """What the stories of a file share with one another and with what was *seen* in the files before, which grows by them."""
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
    """Those of *found* that were seen before they were looked at: a story may repeat itself."""
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
