"""Compose the post: reorder the sentences, add small talk and slips in the style of its register, and lay the text out.

A layout is prose with paragraphs, a list, or a mail.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from piiloom.corpus.alignment import MARK
from piiloom.foundation.words import count_words
from piiloom.generation.composer.scenario_texts import capitalised, expand_clear, marked_length, to_avoid
from piiloom.generation.composer.surfaces import wear
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.registers import ANY_REGISTER, Register, load_registers
from piiloom.taxonomy.scenarios import Talk

_TURN = 0.16
# Shares of texts with a distractor (a sentence that looks like PII and is none): of texts with values, and of texts without; and the
# share of distractors among further small talk.
_DISTRACTOR, _DISTRACTOR_ALONE, _DISTRACTOR_AMONG_TALK = 0.3, 0.8, 0.12
_ASK = 0.12
# Small talk is drawn from this many neighboring patterns of the bank; how often a sentence of it directly follows the last one.
_NEARBY, _GOES_ON = 40, 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The specification of a passage.

    ``relevance`` and ``kinds``: relevance and type of each value by id. ``texts``: the texts of the values. ``opening``: id of the value
    whose sentence must come first, ``ends``: ids of values whose sentence must come last. ``lead``: relevance of the first value.
    ``words``: target length.
    """

    relevance: Mapping[str, str]
    kinds: Mapping[str, str]
    taxonomy: Taxonomy
    texts: Sequence[str]
    opening: str | None
    ends: frozenset[str]
    lead: str | None
    words: int
    register: str
    topic: str
    distractors: bool = True


def compose_passage(sentences: Sequence[str], talk: Talk, brief: Brief, rng: random.Random) -> str:
    """Arrange marked *sentences* into a text whose first value has the relevance ``brief.lead``; their lines may be moved apart."""
    register = load_registers()[brief.register]
    avoid = to_avoid((), brief.texts)
    matter = [line for text in sentences for line in text.split("\n") if _leads(text, brief) != "low"]
    asides = [text.replace("\n", " ") for text in sentences if _leads(text, brief) == "low"]
    last = [text for text in asides if not brief.ends.isdisjoint(found.group(1) for found in MARK.finditer(text))]
    asides = [text for text in asides if text not in last]
    units = _led(_ordered(matter, asides, rng), brief)
    units = _padded(units, sum(marked_length(text) for text in sentences), talk, brief, avoid, rng)
    units = [_turned(unit, talk, rng) if place and rng.random() < _TURN else unit for place, unit in enumerate(units)]
    opener = _said(talk.openers, brief.register, avoid, rng) if rng.random() < register.opener else None
    closer = _said(talk.closers, brief.register, avoid, rng) if rng.random() < register.closer else None
    quoted = expand_clear(rng.choice(talk.quoted), avoid, rng) if talk.quoted and register.layout == "mail" and rng.random() < 0.2 else None
    subject = rng.choice(talk.subject_words) if talk.subject_words else None
    text = lay_out([*units, *last], register, opener=opener, closer=closer, quoted=quoted, subject_word=subject, topic=brief.topic, rng=rng)
    return wear(text, register, talk, brief.kinds, brief.taxonomy, rng)


def _leads(sentence: str, brief: Brief) -> str | None:
    """Return the relevance of the first value in *sentence*, None if it holds none."""
    found = MARK.search(sentence)
    return brief.relevance[found.group(1)] if found else None


def _ordered(matter: list[str], asides: list[str], rng: random.Random) -> list[str]:
    """Draw an order: mixed, asides first, the matter first, or one of them inside the other."""
    plan = rng.random()
    if plan < 0.4:
        units = [*matter, *asides]
        rng.shuffle(units)
        return units
    if plan < 0.58:
        return [*asides, *matter]
    if plan < 0.76:
        return [*matter, *asides]
    outer, inner = (asides, matter) if plan < 0.88 else (matter, asides)
    cut = rng.randint(0, len(outer))
    return [*outer[:cut], *inner, *outer[cut:]]


def _led(units: list[str], brief: Brief) -> list[str]:
    """Move a unit with the leading relevance before all other units with values; if there is an opening, move it to the front."""
    if brief.opening is not None:
        first = next(unit for unit in units if f"[[{brief.opening}|" in unit)
        return [first, *(unit for unit in units if unit is not first)]
    holding = [unit for unit in units if _leads(unit, brief)]
    if not holding or _leads(holding[0], brief) == brief.lead:
        return units
    leading = next((unit for unit in holding if _leads(unit, brief) == brief.lead), holding[0])
    rest = [unit for unit in units if unit is not leading]
    place = rest.index(next(unit for unit in rest if _leads(unit, brief))) if len(holding) > 1 else 0
    return [*rest[:place], leading, *rest[place:]]


def _padded(units: list[str], words: int, talk: Talk, brief: Brief, avoid: Collection[str], rng: random.Random) -> list[str]:
    """Insert small talk, and sometimes a distractor, between the units until the text (*words* long so far) has its target length."""
    padded = list(units)
    first = 1 if brief.opening is not None else 0
    extra: list[str] = []

    def add(text: str | None, to: list[str]) -> int:
        """Append *text* to *to* if it is not None and new; returns the number of words added."""
        if text is None or text in to:
            return 0
        to.append(text)
        return count_words(text)

    wanted_distractor = brief.distractors and (rng.random() < (_DISTRACTOR if brief.texts else _DISTRACTOR_ALONE)) and brief.words > 20
    if wanted_distractor and talk.distractors:
        words += add(expand_clear(rng.choice(talk.distractors), avoid, rng), extra)
    for pattern in _small_talk(talk, 2 + brief.words // 8, rng):
        if words >= brief.words - 5:
            break
        among = talk.distractors if brief.distractors and rng.random() < _DISTRACTOR_AMONG_TALK else None
        words += add(expand_clear(rng.choice(among) if among else pattern, avoid, rng), extra)
    place = rng.randint(first, len(padded))
    for text in extra:
        padded.insert(place, text)
        place = place + 1 if rng.random() < _GOES_ON else rng.randint(first, len(padded))
    if talk.asks and rng.random() < _ASK:
        add(expand_clear(rng.choice(talk.asks), avoid, rng), padded)
    return padded


def _small_talk(talk: Talk, most: int, rng: random.Random) -> list[str]:
    """Draw up to *most* patterns of small talk that are close together in the bank, so that they are mostly about one theme."""
    reach = min(len(talk.chatter), max(_NEARBY, 2 * most))
    start = rng.randint(0, len(talk.chatter) - reach)
    return rng.sample(talk.chatter[start : start + reach], min(reach, most))


def _turned(sentence: str, talk: Talk, rng: random.Random) -> str:
    """Put a turn of phrase before *sentence*, if its first word allows it."""
    first = sentence.split(" ", 1)[0]
    if not talk.turns or not (first in talk.kept_starts or first.casefold() in talk.plain_starts):
        return sentence
    turn = capitalised(rng.choice(talk.turns))
    return f"{turn} {sentence if first in talk.kept_starts else sentence[:1].lower() + sentence[1:]}"


def _said(by_register: Mapping[str, Sequence[str]], register: str, avoid: Collection[str], rng: random.Random) -> str | None:
    patterns = by_register.get(register) or by_register.get(ANY_REGISTER)
    return expand_clear(rng.choice(patterns), avoid, rng) if patterns else None


_SUBJECT = 0.4  # share of mails with a subject line
_BULLETS = ("- ", "* ", "• ", "")


def lay_out(
    units: Sequence[str],
    register: Register,
    *,
    opener: str | None,
    closer: str | None,
    quoted: str | None,
    subject_word: str | None,
    topic: str,
    rng: random.Random,
) -> str:
    """Join *units* in the register's layout, with *opener* before and *closer* after them.

    A mail sometimes gets a subject line (*subject_word* and *topic*) above, and *quoted* below if it is given.
    """
    if register.layout == "list":
        bullet = rng.choice(_BULLETS)
        return "\n".join([*([opener] if opener else []), *(bullet + unit for unit in units), *([closer] if closer else [])])
    body = _paragraphs([*([opener] if opener and register.layout != "mail" else []), *units], register.paragraphs, rng)
    if register.layout == "mail":
        subject = f"{subject_word}: {capitalised(topic)}" if subject_word and rng.random() < _SUBJECT else None
        below = "\n".join(f"> {line}" for line in quoted.split("\n")) if quoted else None
        return "\n\n".join(part for part in (subject, opener, body, closer, below) if part)
    return body + (("\n\n" if rng.random() < register.paragraphs else " ") + closer if closer else "")


def _paragraphs(units: Sequence[str], chance: float, rng: random.Random) -> str:
    text = units[0] if units else ""
    for unit in units[1:]:
        text += ("\n\n" if rng.random() < chance else " ") + unit
    return text
