"""Find leaks in the questions and sentences of a story, by the rules of the gates that screen records later."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from piiloom.foundation.yaml_files import KeyPath
from piiloom.generation.composer.story_writing import mentions
from piiloom.screening.identifiers import find_identifiers
from piiloom.screening.question_leaks import ANYBODYS, content_stems
from piiloom.taxonomy.bank_style import StyleFinding
from piiloom.taxonomy.grammar import all_expansions
from piiloom.taxonomy.stories import Counted, Fact, Story, StoryQuestion
from piiloom.taxonomy.story_sentences import values_of
from piiloom.taxonomy.story_values import NUMBER_SLOT

_LOOKED_AT = 40  # most expansions of a wording to check


def leak_findings(path: KeyPath, story: Story, region: str) -> Iterator[StyleFinding]:
    """Yield (place, rule, message) for values, or words of deciding values, in questions, and for identifiers in fixed text.

    *region*: the phone region by which phone numbers are recognized.
    """
    values = {name: _spellings(story, fact) for name, fact in story.facts.items()}
    for number, question in enumerate(story.questions):
        for place, pattern in enumerate(question.wordings):
            where = (*path, "questions", number, "ask", place)
            told = dict.fromkeys(found for text in all_expansions(pattern, _LOOKED_AT) for found in _leaks(text, question, values))
            yield from ((where, "leak", message) for message in told)
            yield from ((where, "identifier", message) for message in _identifiers(pattern, region))
    for number, step in enumerate(story.steps):
        for place, wording in enumerate(step.wordings):
            where = (*path, "text", number, "say", place)
            yield from ((where, "identifier", message) for message in _identifiers(wording.pattern, region))


def _spellings(story: Story, fact: Fact) -> tuple[str, ...]:
    """Return the values of a fact that the story lists; for a number, its spellings with 0 in place of the digits."""
    if isinstance(fact.source, Counted):
        return tuple(NUMBER_SLOT.sub("0", spelling) for spelling in fact.source.spellings)
    return tuple(dict.fromkeys(values_of(story, fact)))


def shares_word(question: str, value: str) -> bool:
    """Whether *question* shares a content word (by stem) with *value*; screening refuses that if the value is high."""
    return not _stems(question).isdisjoint(_stems(value))


@lru_cache(maxsize=65_536)
def _stems(text: str) -> frozenset[str]:
    return content_stems(text) - ANYBODYS


def _leaks(text: str, question: StoryQuestion, values: dict[str, tuple[str, ...]]) -> Iterator[str]:
    for name, known in values.items():
        yield from (f"holds {value!r}, a value of {name}; say it otherwise" for value in known if mentions(value, text))
        if question.decides(name):
            alike = [value for value in known if shares_word(text, value) and not mentions(value, text)]
            if alike:
                more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
                yield f"shares a word with {alike[0]!r}{more}, values of {name}, which decides it; screening refuses that"


def _identifiers(pattern: str, region: str) -> Iterator[str]:
    kinds = dict.fromkeys(kind for text in all_expansions(pattern, _LOOKED_AT) for kind, _ in find_identifiers(text, region))
    yield from (f"holds what looks like an identifier ({kind}) outside a slot" for kind in kinds)
