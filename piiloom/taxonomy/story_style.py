"""Style checks of stories, as far as a program can do them: counts, values, what sentences and questions give away.

A finding is (path, rule, message), as in ``bank_style``. The word lists are English: stories of other languages are checked for counts and
forms only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from piiloom.foundation.words import words
from piiloom.foundation.yaml_files import KeyPath
from piiloom.taxonomy.bank_style import StyleFinding
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.grammar import all_expansions
from piiloom.taxonomy.stories import Counted, Fact, FromGenerator, InRows, Story, StoryQuestion
from piiloom.taxonomy.story_reading import slots_of
from piiloom.taxonomy.story_sentences import sentence_findings, told_outside, values_of
from piiloom.taxonomy.story_telling_order import order_findings

FACTS = (5, 12)
FEWEST_TYPES = 4
FEWEST_VALUES = 5
FEWEST_QUESTIONS = 4
WORDINGS = (2, 5)  # of a step
ASKS = (1, 4)  # wordings of a question
MOST_QUESTION_WORDS = 30
PAPER_VOICES = ("ticket", "thread", "office", "form", "agent", "call", "log", "cv", "booking")  # papers and messages with identifiers
VOICES = ("ai", "chat", "forum", "letter", "list", "mail", "note", "reply", *PAPER_VOICES)
CASUAL_VOICES = frozenset({"ai", "chat", "forum", "note", "reply"})
_FULL_DATE = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-](?:19|20)\d\d|(?:19|20)\d\d-\d\d-\d\d")
# The largest number that ``{words}`` can spell.
MOST_IN_WORDS = 100

_LOOKED_AT = 60  # expansions of a value or question


def story_style(path: KeyPath, story: Story, taxonomy: Taxonomy, language: str) -> Iterator[StyleFinding]:
    """Yield the style violations in a story that has passed ``story_checks``."""
    yield from _shape(path, story)
    for fact in story.named.values():
        yield from _values(path, story, fact)
    for number, step in enumerate(story.steps):
        if not WORDINGS[0] <= len(step.wordings) <= WORDINGS[1]:
            yield (*path, "text", number, "say"), "count", f"has {len(step.wordings)} wordings, not {WORDINGS[0]} to {WORDINGS[1]}"
    yield from sentence_findings(path, story, language)
    yield from order_findings(path, story)
    for number, question in enumerate(story.questions):
        yield from _question((*path, "questions", number), question, story, taxonomy, language)


def _shape(path: KeyPath, story: Story) -> Iterator[StyleFinding]:
    prefix = "-".join(kind.replace(" ", "_") for kind in story.pair) if story.facts else "plain"
    if not re.fullmatch(rf"(?:[a-z]{{2}}\.)?{re.escape(prefix)}\.[a-z0-9]+(-[a-z0-9]+)*", story.id):
        yield (*path, "id"), "id", f"the id must be {prefix}.<slug>"
    if story.voice not in VOICES:
        yield (*path, "voice"), "voice", f"is none of {', '.join(VOICES)}"
    if len(story.questions) < FEWEST_QUESTIONS:
        yield (*path, "questions"), "count", f"has {len(story.questions)} of at least {FEWEST_QUESTIONS} questions"
    yield from _untold(path, story)
    if not story.facts:
        return
    if not FACTS[0] <= len(story.facts) <= FACTS[1]:
        yield (*path, "facts"), "count", f"has {len(story.facts)} facts, not {FACTS[0]} to {FACTS[1]}"
    if len({frozenset(question.needs) for question in story.questions}) < 2:
        yield (*path, "questions"), "needs", "all questions need the same facts; two must need different ones"
    yield from _coverage(path, story)


def _coverage(path: KeyPath, story: Story) -> Iterator[StyleFinding]:
    """Yield the types that are missing."""
    types = {fact.entity_type for fact in story.facts.values()}
    if len(types) < FEWEST_TYPES:
        yield (*path, "facts"), "count", f"has facts of {len(types)} types, not of at least {FEWEST_TYPES}"
    for kind in story.pair:
        if kind not in types:
            yield (*path, "facts"), "pair", f"has no fact of the pair's type {kind!r}"
        elif not any(story.facts[name].entity_type == kind for question in story.questions for name in question.needs):
            yield (*path, "questions"), "pair", f"no question needs a fact of the pair's type {kind!r}"


def _untold(path: KeyPath, story: Story) -> Iterator[StyleFinding]:
    """Yield the facts and look-alikes that no sentence states."""
    told = {name for step in story.steps for wording in step.wordings for name, word in slots_of(wording.pattern) if word is None}
    for name in story.named:
        if name not in told:
            yield place_of(path, story, name), "untold", "no wording tells it; put it in a sentence or take it out"


def place_of(path: KeyPath, story: Story, fact: str) -> KeyPath:
    """Return the path of a fact or look-alike in the file."""
    source = story.named[fact].source
    rows = (*path, "facts", source.rows, "as", fact) if isinstance(source, InRows) else None
    return rows or (*path, "likes" if fact in story.likes else "facts", fact)


def _values(path: KeyPath, story: Story, fact: Fact) -> Iterator[StyleFinding]:
    place = place_of(path, story, fact.name)
    number = _count(story, fact)
    if number is not None and number < FEWEST_VALUES:
        yield place, "values", f"has {number} of at least {FEWEST_VALUES} values; records would repeat them"
    if isinstance(fact.source, Counted) and fact.source.high > MOST_IN_WORDS and any("{words}" in s for s in fact.source.spellings):
        yield (*place, "as"), "values", f"{{words}} goes to {MOST_IN_WORDS} only"
    if any("\n" in value for value in values_of(story, fact)):
        yield place, "values", "a value holds a line break"
    if story.voice in CASUAL_VOICES:
        if isinstance(fact.source, Counted) and any(spelling.endswith("}.00") for spelling in fact.source.spellings):
            yield (*place, "as"), "tell", "writes cents in a casual text; leave out .00"
        if any(_FULL_DATE.fullmatch(value) for value in values_of(story, fact)):
            yield place, "tell", "writes a date with its year in digits in a casual text"


def _count(story: Story, fact: Fact) -> int | None:
    """Return the number of values of a fact; None if a generator makes them."""
    source = fact.source
    if isinstance(source, FromGenerator):
        return None
    if isinstance(source, Counted):
        if source.of is None:
            return int((source.high - source.low) / source.step + 1e-9) + 1
        based_on = _count(story, story.named[source.of]) or 1
        return based_on * len(source.times or source.plus)
    return len(set(values_of(story, fact)))


def _question(path: KeyPath, question: StoryQuestion, story: Story, taxonomy: Taxonomy, language: str) -> Iterator[StyleFinding]:
    if not ASKS[0] <= len(question.wordings) <= ASKS[1]:
        yield (*path, "ask"), "count", f"has {len(question.wordings)} wordings, not {ASKS[0]} to {ASKS[1]}"
    deciding = dict.fromkeys(
        [*(story.pair if story.facts else ()), *(story.facts[name].entity_type for name in (*question.needs, *question.helps))]
    )
    kinds = {kind: None for kind in deciding if taxonomy.types[kind].pairable}  # "no names, please" names no type that decides
    for number, pattern in enumerate(question.wordings):
        place = (*path, "ask", number)
        for text in all_expansions(pattern, _LOOKED_AT):
            found = list(_asked(text, kinds, taxonomy, language))
            yield from ((place, rule, message) for rule, message in found)
            if found:
                break


def _asked(text: str, kinds: Mapping[str, None], taxonomy: Taxonomy, language: str) -> Iterator[tuple[str, str]]:
    if text.count("?") != 1:
        yield "question", f"has {text.count('?')} question marks, not one"
    told = words(text)
    if len(told) > MOST_QUESTION_WORDS:
        yield "length", f"has {len(told)} words, more than {MOST_QUESTION_WORDS}"
    if language != "en":
        return
    used = {word.casefold() for word in told}
    for kind in kinds:
        named = sorted(used & taxonomy.types[kind].type_words)
        if named:
            yield "type word", f"names the type {kind!r} ({', '.join(named)}); say what is meant without it"
    yield from (("disclosure", f"{told}; a question tells nothing personal") for told in told_outside(text))
