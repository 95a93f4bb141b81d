"""The parts of a text from a scenario: the situation, asides and questions, from patterns of the bank filled with values.

``{occupation}`` becomes the marked value, ``{a:occupation}`` the same after "a" or "an", ``{A:occupation}`` after "A" or "An";
``{occupation.job_title}`` likewise. In English, an "a" written out before a slot is adapted to the value as well. Fixed text contains no
value by chance, since that would be an unmarked mention of the value.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from piiloom.corpus.alignment import MARK, mark, strip_marks
from piiloom.foundation.articles import article
from piiloom.foundation.words import count_words
from piiloom.generation.item import Band
from piiloom.providers.errors import InvalidRequest
from piiloom.screening.gates import content_stems
from piiloom.taxonomy.bank_checks import BOTH, slot_name
from piiloom.taxonomy.grammar import expand
from piiloom.taxonomy.scenarios import Bank, Scenario, Talk

PlannedValue = Mapping[str, str]  # id, type, subtype and text
SLOT = re.compile(r"\{(?:(?P<article>[aA]):)?(?P<name>[a-z_]+(?:\.[a-z_]+)?)\}")
# In an English bank the article may also be written out before the slot.
ENGLISH_SLOT = re.compile(r"(?:\b(?P<written>[aA])n? )?" + SLOT.pattern)


def fill(pattern: str, values: Mapping[str, str], wrap: Callable[[str, str], str], locale: str = "en_US") -> str:
    """Replace the slots of an expanded *pattern*; ``wrap(slot, text)`` returns how a value is written (marked or plain).

    In an English *locale*, "a" or "an" right before a slot is adapted to the value. Raises ``KeyError`` for a slot without a value.
    """

    def put(found: re.Match[str]) -> str:
        text = values[found["name"]]
        written = wrap(found["name"], text)
        asked = found["article"] or found.groupdict().get("written")
        if asked is None:
            return written
        chosen = article(text, locale)
        return f"{chosen.capitalize() if asked == 'A' else chosen} {written}"

    return (ENGLISH_SLOT if locale.startswith("en") else SLOT).sub(put, pattern)


LEADING_MARK = re.compile(r"\[\[v\d+\|")


def capitalised(sentence: str, *, value_too: bool = False) -> str:
    """Capitalize the first letter of *sentence*; if it begins with a marked value, only with *value_too*."""
    leading = LEADING_MARK.match(sentence)
    if leading and not value_too:
        return sentence
    start = leading.end() if leading else 0
    raised = sentence[start : start + 1].upper()
    # "ß" and the like become two letters, which would change the value.
    return sentence if len(raised) != 1 else sentence[:start] + raised + sentence[start + 1 :]


_PATTERN_TRIES = 10
TRIES = 40  # draws of a text until its length is right


def to_avoid(values: Iterable[Mapping[str, str]], others: Iterable[str]) -> tuple[str, ...]:
    """Return the texts that fixed text beside *values* must not contain: *values* and *others*, as ``says_any`` takes them."""
    return tuple(text.casefold() for text in (*others, *(value["text"] for value in values)))


def marked_length(marked: str) -> int:
    """Count the words of a text with marks."""
    return count_words(strip_marks(marked).text)


def in_band(draw: Callable[[], str], band: Band) -> str:
    """Return the first of up to ``TRIES`` marked texts of *draw* that has *band* words, else the last one."""
    for _ in range(TRIES):
        text = draw()
        if band[0] <= marked_length(text) <= band[1]:
            break
    return text


def says_any(text: str, values: Collection[str]) -> bool:
    """Whether the case-folded *text* holds one of *values* (case-folded) as whole words."""
    return any(value in text and _stands(text, value) for value in values)


def _stands(text: str, value: str) -> bool:
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        if not text[start - 1 : start].isalnum() and not text[end : end + 1].isalnum():
            return True
        start = text.find(value, start + 1)
    return False


def expand_clear(pattern: str, values: Collection[str], rng: random.Random) -> str | None:
    """Draw an expansion of *pattern* whose fixed text contains none of *values* and no question; None if some draws find none."""
    for _ in range(_PATTERN_TRIES // 2):
        text = expand(pattern, rng)
        if "?" not in text and not says_any(SLOT.sub(" ", text).casefold(), values):
            return text
    return None


def draw_clear(patterns: Sequence[str], values: Collection[str], rng: random.Random) -> str:
    """Draw an expansion of one of *patterns* whose fixed text contains none of *values*; if none is found, any (``spans`` finds it)."""
    for _ in range(_PATTERN_TRIES):
        text = expand_clear(rng.choice(patterns), values, rng)
        if text is not None:
            return text
    return expand(rng.choice(patterns), rng)


_WORD_BEFORE = re.compile(r"([\w'’]+) $")
_CHANCE = 0.17


def qualified(sentence: str, values: Sequence[PlannedValue], talk: Talk, rng: random.Random) -> str:
    """Add qualifiers of the bank before some of the marked *values* in *sentence*, and articles before values that need one.

    Both are added only if the word before the value allows it.
    """
    slots = {value["id"]: (value["type"], value["subtype"]) for value in values}
    pieces: list[str] = []
    position = 0
    for found in MARK.finditer(sentence):
        pieces.append(sentence[position : found.start()])
        position = found.start()
        before = _WORD_BEFORE.search(pieces[-1])
        word = before.group(1).casefold() if before else ""
        definite = talk.definite.get(found.group(2))
        if definite and word in definite.after:
            pieces.append(f"{definite.article} ")
        qualifier = talk.qualifiers.get(slots.get(found.group(1), ("", "")))
        if qualifier and word in qualifier.after and rng.random() < _CHANCE:
            pieces.append(f"{rng.choice(qualifier.words)} ")
    return "".join(pieces) + sentence[position:]


# Share of texts that tell both facts of a pair in one sentence.
_TOGETHER = 0.5
# The text aims at the band's minimum times a factor between these two.
_AIM = (1.0, 1.7)
_FACTS_FIRST = 0.45


def compose_situation(
    scenario: Scenario,
    talk: Talk,
    values: Sequence[PlannedValue],
    band: Band,
    others: Sequence[str],
    rng: random.Random,
    locale: str = "en_US",
) -> str:
    """Compose sentences about *scenario* that mark each of *values* once, in a drawn order, one per line.

    *band*: (fewest, most) words. It is drawn again until its length is in *band*; after ``TRIES`` the last draw is returned. *others*:
    texts that must not occur, the item's other values.
    """
    return in_band(lambda: _drawn(scenario, talk, values, band, to_avoid(values, others), rng, locale), band)


def _drawn(
    scenario: Scenario, talk: Talk, values: Sequence[PlannedValue], band: Band, avoid: Sequence[str], rng: random.Random, locale: str
) -> str:
    tells = _tells(scenario, values, rng)
    lines = [qualified(_filled_tell(draw_clear(patterns, avoid, rng), told, locale), told, talk, rng) for patterns, told in tells]
    aim = band[0] * rng.uniform(*_AIM)
    words = sum(marked_length(line) for line in lines)
    for pattern in rng.sample(scenario.stakes, len(scenario.stakes)):
        text = expand_clear(pattern, avoid, rng) if words < aim else None
        if text is not None and words + count_words(text) <= band[1]:
            lines.append(text)
            words += count_words(text)
    return "\n".join(_in_order(lines, rng))


def _in_order(lines: list[str], rng: random.Random) -> list[str]:
    """Shuffle *lines*; with probability ``_FACTS_FIRST``, a line with a value comes first, as people tell it."""
    disclosing = [line for line in lines if MARK.search(line)]
    ordered = list(lines)
    rng.shuffle(ordered)
    if disclosing and rng.random() < _FACTS_FIRST:
        first = rng.choice(disclosing)
        ordered.remove(first)
        ordered.insert(0, first)
    return ordered


def _tells(scenario: Scenario, values: Sequence[PlannedValue], rng: random.Random) -> list[tuple[Sequence[str], list[PlannedValue]]]:
    """Return (patterns, values that they tell) for all *values*; the two values of a pair are sometimes told in one sentence."""
    pair = [value for value in values if value["type"] in scenario.pair]
    further = [value for value in values if value["type"] not in scenario.pair]
    told: list[tuple[Sequence[str], list[PlannedValue]]] = [(scenario.also[value["type"]].tells, [value]) for value in further]
    if len(pair) == 2 and rng.random() < _TOGETHER:
        return [(scenario.tells[BOTH], pair), *told]
    return [*((scenario.tells[value["type"]], [value]) for value in pair), *told]


def _filled_tell(pattern: str, values: Sequence[PlannedValue], locale: str) -> str:
    texts = {slot_name(value["type"]): value["text"] for value in values}
    ids = {slot_name(value["type"]): value["id"] for value in values}
    # Values that matter are never identifiers, so their first letter may be capitalized.
    return capitalised(fill(pattern, texts, lambda slot, text: mark(ids[slot], text), locale), value_too=True)


_AS_WRITTEN = frozenset({"code", "name"})


def compose_aside(
    bank: Bank,
    values: Sequence[PlannedValue],
    frame: int | None,
    others: Sequence[str],
    rng: random.Random,
    locale: str = "en_US",
    *,
    band: Band = (1, 45),
) -> str:
    """Fill *frame* (its index in *bank*) with *values*; None means a pattern that says for whom the text is posted.

    Small talk fills it up to *band*, (fewest, most) words. *others*: texts that the aside must not contain. Raises ``InvalidRequest``
    if there is no such frame, or if it does not take these values.
    """
    avoid = to_avoid(values, others)
    last = frame is not None and frame < len(bank.frames) and bank.frames[frame].last

    def draw() -> str:
        told = [_filled_frame(bank, values, frame, avoid, rng, locale)]
        words = marked_length(told[0])
        for pattern in rng.sample(bank.talk.chatter, min(TRIES, len(bank.talk.chatter))) if words < band[0] else ():
            line = expand_clear(pattern, avoid, rng)
            if line is not None and words + count_words(line) <= band[1]:
                told.insert(0 if last else len(told), line)
                words += count_words(line)
            if words >= band[0]:
                break
        return " ".join(told)

    return in_band(draw, band)


def _filled_frame(
    bank: Bank, values: Sequence[PlannedValue], frame: int | None, avoid: Sequence[str], rng: random.Random, locale: str
) -> str:
    by_slot = {f"{slot_name(value['type'])}.{value['subtype']}": value for value in values}
    if frame is not None and not 0 <= frame < len(bank.frames):
        raise InvalidRequest("the bank has no such frame", remedy="Plan and compose with the same bank")
    patterns = bank.talk.second_hand if frame is None else (bank.frames[frame].text,)
    text = draw_clear(patterns, avoid, rng)
    try:
        filled = fill(text, {slot: value["text"] for slot, value in by_slot.items()}, lambda slot, v: mark(by_slot[slot]["id"], v), locale)
    except KeyError as error:
        raise InvalidRequest("the frame does not take these values", remedy="Plan and compose with the same bank") from error
    filled = qualified(filled, values, bank.talk, rng)
    return capitalised(filled, value_too=not _begins_as_written(filled, values))


def _begins_as_written(sentence: str, values: Sequence[PlannedValue]) -> bool:
    """Whether *sentence* begins with a value whose case must be kept, such as an identifier or a user name."""
    return any(sentence.startswith(f"[[{value['id']}|") and value["type"] in _AS_WRITTEN for value in values)


# Shares of questions with a statement before them, and with a tail.
_PREFACE, _TAIL = 0.1, 0.06
_QUESTION_TRIES = 16
# This many valid questions are drawn; the one that shares most words with what was told is taken.
_CANDIDATES = 8


def compose_draft(scenario: Scenario, talk: Talk, values: Sequence[PlannedValue], rng: random.Random) -> str:
    """Return a personal question after a sentence that states all *values*."""
    personal = capitalised(expand(rng.choice(scenario.questions["personal"]), rng))
    if not values:
        return personal
    told = "; ".join(value["text"] for value in values)
    return f"{capitalised(fill(expand(rng.choice(talk.drafts), rng), {'values': told}, lambda _, text: text))} {personal}"


def compose_question(
    scenario: Scenario,
    cue_level: str,
    told: str,
    beside: str,
    values: Sequence[PlannedValue],
    others: Sequence[str],
    rng: random.Random,
) -> str:
    """Draw a question of *cue_level* that shares no content word with *values* and holds none of *others*.

    *told* is the text about the matter, *beside* the text of the asides. Questions with words of *told* and without words of *beside* are
    preferred, since people ask in the words that they have just used. If ``_QUESTION_TRIES`` draws find no valid question, the last one is
    returned.
    """
    stems, avoid = _stems(values), to_avoid(values, others)
    spoken, idle = content_stems(told) - stems, content_stems(beside)
    found: list[tuple[int, str]] = []
    question = ""
    for _ in range(_QUESTION_TRIES):
        question = capitalised(expand(rng.choice(scenario.questions[cue_level]), rng))
        asked = content_stems(question)
        if stems.isdisjoint(asked) and not says_any(question.casefold(), avoid):
            found.append((len(asked & spoken) - len(asked & idle), question))
        if len(found) == _CANDIDATES:
            break
    return max(found, key=lambda candidate: candidate[0])[1] if found else question


def dressed(question: str, values: Sequence[PlannedValue], others: Sequence[str], talk: Talk, rng: random.Random) -> str:
    """Sometimes add a preface or a tail to *question*; return it unchanged if that would leak a value."""
    whole = question
    if rng.random() < _TAIL and talk.tails:
        whole = f"{question.removesuffix('?')}{expand(rng.choice(talk.tails), rng)}"
    if rng.random() < _PREFACE and talk.prefaces:
        whole = f"{capitalised(expand(rng.choice(talk.prefaces), rng))} {whole}"
    if whole == question:
        return question
    clear = _stems(values).isdisjoint(content_stems(whole)) and not says_any(whole.casefold(), to_avoid(values, others))
    return whole if clear else question


def _stems(values: Sequence[PlannedValue]) -> frozenset[str]:
    return frozenset(stem for value in values for stem in content_stems(value["text"]))
