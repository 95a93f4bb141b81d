"""Style checks of stories, as far as a program can do them: counts, values, what sentences and questions give away.

A finding is (path, rule, message), as in ``bank_style``. The word lists are English: stories of other languages are checked for counts
and forms only. Sentences are checked for values and PII outside slots, articles, capitals and wording slips; the order of steps for words
that agree with an untold fact; two stories for ids, sentences, questions and openings that occur in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from piiloom.foundation.articles import article
from piiloom.foundation.words import whole_word, words
from piiloom.foundation.yaml_files import KeyPath, YamlDocument
from piiloom.taxonomy.bank_style import StyleFinding, disclosures, slips
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.grammar import all_expansions
from piiloom.taxonomy.stories import Counted, Fact, FromGenerator, InRows, Listed, Step, Story, StoryQuestion
from piiloom.taxonomy.story_reading import slots_of

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

_VALUE_EXPANSIONS = 60  # expansions of a value or question


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
        for text in all_expansions(pattern, _VALUE_EXPANSIONS):
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


_SENTENCE_EXPANSIONS = 40  # expansions of a wording or value
_SLOT = re.compile(r"\{(?:([aA^]):)?([a-z][a-z0-9_]*)(\.[a-z0-9_]+)?\}")
_LAST_WORD = re.compile(r"([\w'’]+) $")
_FIRST_WORD = re.compile(r"[\w'’]+")
_DETERMINERS = frozenset("a an the my our his her their your its this that".split())
_SENTENCE_END = re.compile(r"(?:^|[.!?][\"')]* |\n)$")
_WEEKDAYS = re.compile(r"'(?:mon|tues|wednes|thurs|fri|satur|sun)day'")  # fine where they stand alone
_PART = re.compile(r"'(?:\d|[$£€₹])'")
_NUMBER = re.compile(r"[$£€₹]?\d[\d.,:/-]*\d|[$£€₹]\d?")  # "2 of us" tells no more than "two of us"
_FLAT_PLACE = re.compile(
    r"(?:^|[.!?]\s+)(?:(?:all )?(?:this|it|that) is|(?:it|that)'s|we're|i'm|(?:we|i) (?:am|are|live)) in \{(\w+)\}(?=[.!?]|$)",
    re.IGNORECASE,
)
_FEIGNED_REPLY = re.compile(
    r"(?:^|[.!?]\s+)(?:(?:since|because|well,?|yes,|no,) )?you (?:asked|were asking|wanted to know)\b(?! me to)", re.IGNORECASE
)
_LABELLED = re.compile(r"\{[aA]:(\w+)\} (?:man|woman|guy|girl|dude|person)\b")
_LABELS = frozenset({"sexual orientation", "demographic", "belief"})
_LOWER_CASE_VOICES = frozenset({"chat", "note", "list", "log"})


def values_of(story: Story, fact: Fact) -> tuple[str, ...]:
    """Return the values that a fact takes from a list or rows; empty for numbers and generators."""
    if isinstance(fact.source, Listed):
        cells = fact.source.cells
    elif isinstance(fact.source, InRows):
        cells = tuple(row[fact.source.column] for row in story.rows[fact.source.rows])
    else:
        return ()
    return tuple(value for cell in cells for value in all_expansions(cell.text, _SENTENCE_EXPANSIONS))


def sentence_findings(path: KeyPath, story: Story, language: str) -> Iterator[StyleFinding]:
    """Yield all findings on the wordings of a story."""
    values = {name: values_of(story, fact) for name, fact in story.named.items()}
    patterns = [(value, name, whole_word(value)) for name in story.facts for value in dict.fromkeys(values[name])]
    for number, step in enumerate(story.steps):
        for place, wording in enumerate(step.wordings):
            where = (*path, "text", number, "say", place)
            expansions = all_expansions(wording.pattern, _SENTENCE_EXPANSIONS)
            yield from ((where, rule, message) for rule, message in _unmarked(expansions, patterns))
            yield from ((where, rule, message) for rule, message in _joints(expansions, values, story, language))
            if language == "en":
                yield from ((where, "wording", slip) for slip in slips(expansions))
                yield from ((where, "disclosure", f"{told}; a slot makes it a fact") for told in told_outside(wording.pattern))
                yield from ((where, "tell", message) for message in _tells(wording.pattern, story))


def _tells(pattern: str, story: Story) -> Iterator[str]:
    """Yield the habits of writers of stories by which blind readers recognized made-up texts."""
    types = {name: fact.entity_type for name, fact in story.facts.items()}
    if any(types.get(found[1]) == "location" for found in _FLAT_PLACE.finditer(pattern)):
        yield "a sentence gives the place and nothing else; let the place matter where it is named"
    if _FEIGNED_REPLY.search(pattern):
        yield "answers a question that nobody asked in the text; begin with the matter"
    if any(types.get(found[1]) in _LABELS for found in _LABELLED.finditer(pattern)):
        yield "labels a person with a noun phrase; say what happened, or leave the noun out"


def told_outside(pattern: str) -> Iterator[str]:
    """Yield what the fixed text of *pattern* discloses.

    Weekdays alone disclose nothing. Numbers are reported as a whole instead of by their digits.
    """
    for told in disclosures(pattern):
        if not _PART.search(told) and not _WEEKDAYS.search(told):
            yield told
    numbers = dict.fromkeys(_NUMBER.findall(_SLOT.sub(" ", pattern)))
    yield from (f"holds {number!r} outside a slot" for number in numbers)


def _unmarked(expansions: tuple[str, ...], patterns: list[tuple[str, str, re.Pattern[str]]]) -> Iterator[tuple[str, str]]:
    """Yield (rule, message) for values in fixed text: they would be mentions without a span."""
    fixed = " ".join(_SLOT.sub(" \n ", text) for text in expansions)
    folded = fixed.lower()
    found: dict[str, str] = {}
    for value, name, pattern in patterns:
        low = value == value.lower()
        if value in (folded if low else fixed) and pattern.search(folded if low else fixed):
            found.setdefault(value, name)
    for value, name in found.items():
        yield "unmarked", f"holds {value!r}, a value of {name}, outside a slot; say it otherwise or take the value out"


def _joints(expansions: tuple[str, ...], values: dict[str, tuple[str, ...]], story: Story, language: str) -> Iterator[tuple[str, str]]:
    """Yield (rule, message) for problems where text and values meet: articles, doubled words, sentences without a capital."""
    found: dict[str, str] = {}
    for text in expansions:
        for slot in _SLOT.finditer(text):
            mark, name, agreeing = slot.groups()
            before = text[: slot.start()]
            if agreeing and mark is None and _begins_sentence(before, story.voice):
                found.setdefault(f"a sentence begins with {{{name}{agreeing}}} in small letters; write {{^:{name}{agreeing}}}", "capital")
            if language != "en" and mark in {"a", "A"}:
                found.setdefault(f"{{{mark}:{name}}} is English; let the value have a key for its article", "article")
            if agreeing or name not in values:
                continue
            for value in values[name]:
                for rule, message in _joint(before, mark, name, value, story.voice, language):
                    found.setdefault(message, rule)
    yield from ((rule, message) for message, rule in found.items())


def _joint(before: str, mark: str | None, name: str, value: str, voice: str, language: str) -> Iterator[tuple[str, str]]:
    starts = _FIRST_WORD.match(value)
    first = starts.group().casefold() if starts else ""
    if language == "en":
        ends = _LAST_WORD.search(before)
        last = ends.group(1).casefold() if ends else ""
        if mark in {"a", "A"} and first in _DETERMINERS:
            yield "article", f"{{{mark}:{name}}} puts an article before {value!r}, which has one"
        if mark is None and last in {"a", "an"} and first not in _DETERMINERS and article(value) != last:
            yield "article", f"{last!r} before {value!r}; write {{a:{name}}}"
        if mark in {None, "^"} and last and (last == first or (last in _DETERMINERS and first in _DETERMINERS)):
            yield "wording", f"{last!r} stands before {value!r}"
    if mark is None and value[:1].islower() and _begins_sentence(before, voice):
        yield "capital", f"a sentence begins with {value!r} in small letters; write {{^:{name}}}"


def _begins_sentence(before: str, voice: str) -> bool:
    return voice not in _LOWER_CASE_VOICES and _SENTENCE_END.search(before) is not None


def order_findings(path: KeyPath, story: Story) -> Iterator[StyleFinding]:
    """Yield words that agree with a fact that may be untold by then, and steps of which only some wordings state a needed fact.

    Also yield steps that wait for a fact (``with``) which no earlier step tells.
    """
    always: set[str] = set()  # told by now, whatever is drawn
    for number, step in enumerate(story.steps):
        where = (*path, "text", number)
        for place, wording in enumerate(step.wordings):
            for owner in dict.fromkeys(owner for owner, _ in wording.agreements if owner in story.facts):
                if owner not in always | step.after | wording.tells:
                    message = f"speaks of {owner}, which may be untold by then; add with: [{owner}] to the step"
                    yield (*where, "say", place), "order", message
        yield from (((*where, "say"), "needs", message) for message in _uneven(step, story))
        for name in step.after:
            if not any(name in w.tells for earlier in story.steps[:number] for w in earlier.wordings) and step.group is None:
                yield (*where, "with"), "order", f"no step before this one tells {name}, so it is never told"
        if step.chance >= 1 and not step.after:
            always |= frozenset.intersection(*(wording.tells for wording in step.wordings))


def _uneven(step: Step, story: Story) -> Iterator[str]:
    """Yield the facts that a question needs and only some wordings of *step* state.

    A fact that is moot for another question is allowed if the step is always told.
    """
    some = frozenset().union(*(w.tells for w in step.wordings)) - frozenset.intersection(*(w.tells for w in step.wordings))
    for fact in sorted(some):
        needed = [question.id for question in story.questions if fact in question.needs]
        moot = any(fact in question.moot for question in story.questions)
        if needed and not (moot and step.chance >= 1):
            yield f"only some of its wordings tell {fact}, which {needed[0]} needs; tell it in all, or in a step of its own with p"


FEWEST_WORDS = 6  # of a sentence, without slots; shorter ones ("the house is in {state}") may be shared
OPENING_WORDS = 3

_REPEAT_EXPANSIONS = 20  # expansions of a wording
_ANY_SLOT = re.compile(r"\{[^{}]*\}")
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
            for text in all_expansions(wording.pattern, _REPEAT_EXPANSIONS):
                for sentence in _SENTENCES.split(text):
                    told = words(_ANY_SLOT.sub(" ", sentence))
                    if len(told) >= FEWEST_WORDS:
                        found.setdefault(
                            "sentence " + " ".join(words(_ANY_SLOT.sub(" X ", sentence))).casefold(), (*path, "text", number, "say", place)
                        )
    return found


def _questions(path: KeyPath, story: Story) -> dict[str, KeyPath]:
    return {
        "question " + " ".join(words(text)).casefold(): (*path, "questions", number, "ask", place)
        for number, question in enumerate(story.questions)
        for place, pattern in enumerate(question.wordings)
        for text in all_expansions(pattern, _REPEAT_EXPANSIONS)
    }


def _openings(path: KeyPath, story: Story) -> dict[str, KeyPath]:
    return {
        " ".join(words(_ANY_SLOT.sub(" X ", text))[:OPENING_WORDS]).casefold(): (*path, "text", 0, "say", place)
        for place, wording in enumerate(story.steps[0].wordings)
        for text in all_expansions(wording.pattern, _REPEAT_EXPANSIONS)
    }
