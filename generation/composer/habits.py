"""One habit of one writer, kept up from the first word to the last: all small letters, no apostrophes, a word misspelled each time.

Habits change what stands between values; only small letters change values too (but no codes, which are copied), and what
stands in the text is the value then. Where a habit would spoil a text, the text stays as it is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from piiloom.generation.composer.story_writing import clash, folded
from piiloom.generation.composer.told import ToldSpan, ToldStory
from piiloom.taxonomy.habits import Habit, habit_shares, misspelled
from piiloom.taxonomy.locales import get_locale

Change = Callable[[str], str]

_APOSTROPHE: Final = re.compile(r"(?<=[A-Za-z])['’](?=(?:t|m|s|d|re|ve)(?!\w))")  # not of "he'll", which would be another word
_STOP: Final = re.compile(r"(?<!\.)(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bSt)\.(?= )")
_SENTENCE_END: Final = re.compile(r"([.!?][\"')]?) (?=\S)")
_COPIED: Final = frozenset({"code"})  # types whose values people do not type

_CHANGES: Final[Mapping[Habit, Change]] = {
    "lower_case": folded,
    "no_apostrophes": lambda text: _APOSTROPHE.sub("", text),
    "dots": lambda text: _STOP.sub("...", text),
    "double_spaces": lambda text: _SENTENCE_END.sub(r"\1  ", text),
    "no_final_stop": lambda text: text,  # a matter of the whole text
}


def with_habit(told: ToldStory, voice: str, rng: random.Random, locale: str) -> ToldStory:
    """*told* as a writer with one of the voice's habits would have it, or as it is."""
    habit = _draw(voice, rng)
    if habit is None:
        return told
    change = _change(habit, told, rng, get_locale(locale).language)
    if change is None:
        return told
    text, spans = _changed(told, change, lower=habit == "lower_case")
    if habit == "no_final_stop" and text.endswith(".") and (not spans or spans[-1].end < len(text)):
        text = text[:-1]
    if text == told.text or clash(text, spans, {span.fact: span.value for span in spans}) is not None:
        return told
    questions = tuple(replace(question, text=change(question.text)) for question in told.questions)
    return replace(told, text=text, spans=spans, questions=questions, habit=habit)


def _draw(voice: str, rng: random.Random) -> Habit | None:
    at = rng.random() * 100
    for habit, share in habit_shares(voice).items():
        at -= share
        if at < 0:
            return habit
    return None


def _change(habit: Habit, told: ToldStory, rng: random.Random, language: str) -> Change | None:
    """What the habit does to text between values; None where this text gives it nothing to do."""
    if habit in _CHANGES:
        return _CHANGES[habit]
    there = [word for word in misspelled(language) if word in told.text]
    if not there:
        return None
    word = there[int(rng.random() * len(there))]
    return _misspelling(word, misspelled(language)[word])


def _misspelling(word: str, written: str) -> Change:
    pattern = re.compile(rf"(?<![\w'’]){re.escape(word)}(?![\w'’])", re.IGNORECASE)

    def put(found: re.Match[str]) -> str:
        return written[0].upper() + written[1:] if found.group()[0].isupper() else written

    return lambda text: pattern.sub(put, text)


def _changed(told: ToldStory, change: Change, *, lower: bool) -> tuple[str, tuple[ToldSpan, ...]]:
    """The text with *change* made between its values, and the spans where they stand now."""
    pieces: list[str] = []
    spans: list[ToldSpan] = []
    length = at = 0
    for span in told.spans:
        between = change(told.text[at : span.start])
        value = folded(span.value) if lower and span.entity_type not in _COPIED else span.value
        start = length + len(between)
        length = start + len(value)
        pieces += (between, value)
        spans.append(replace(span, start=start, end=length, value=value))
        at = span.end
    pieces.append(change(told.text[at:]))
    return "".join(pieces), tuple(spans)
