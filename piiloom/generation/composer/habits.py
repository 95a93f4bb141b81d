"""One orthographic habit of a writer, applied to a whole text: all lower case, no apostrophes, one word always misspelled.

Habits change the text between values. Only "lower_case" changes values too (except codes, which people copy); the span's value is
then the changed text. If a habit would make the spans invalid, the text stays as it is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from piiloom.generation.composer.story_writing import clash, folded
from piiloom.generation.composer.told import ToldSpan, ToldStory
from piiloom.taxonomy.entity_types import Taxonomy
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
    "no_final_stop": lambda text: text,  # done on the whole text in ``with_habit``
}


def with_habit(told: ToldStory, voice: str, rng: random.Random, locale: str, taxonomy: Taxonomy) -> ToldStory:
    """Return *told* with a habit drawn for *voice* applied, or unchanged if none is drawn or the habit does not fit."""
    habit = _draw(voice, rng)
    if habit is None:
        return told
    change = _change(habit, told, rng, get_locale(locale).language)
    if change is None:
        return told
    text, spans = _changed(told, change, taxonomy, lower=habit == "lower_case")
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
    """Return the change that *habit* makes to text between values; None if it has nothing to change in this text."""
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


def _changed(told: ToldStory, change: Change, taxonomy: Taxonomy, *, lower: bool) -> tuple[str, tuple[ToldSpan, ...]]:
    """Apply *change* to the text between values; returns the new text and the spans with their new offsets."""
    pieces: list[str] = []
    spans: list[ToldSpan] = []
    length = at = 0
    for span in told.spans:
        between = change(told.text[at : span.start])
        value = folded(span.value) if lower and not _is_copied(span, taxonomy) else span.value
        start = length + len(between)
        length = start + len(value)
        pieces += (between, value)
        spans.append(replace(span, start=start, end=length, value=value))
        at = span.end
    pieces.append(change(told.text[at:]))
    return "".join(pieces), tuple(spans)


def _is_copied(span: ToldSpan, taxonomy: Taxonomy) -> bool:
    """Return whether people copy the value of *span* from somewhere, so that it keeps its case."""
    kind = taxonomy.types.get(span.entity_type)
    own = kind is not None and kind.own and any(one.name == span.subtype and one.form == "code" for one in kind.subtypes)
    return own or span.entity_type in _COPIED
