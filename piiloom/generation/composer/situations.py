"""Compose the situation: sentences that disclose the values that matter, and what is at stake, one per line."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from piiloom.corpus.marks import MARK, mark
from piiloom.foundation.words import count_words
from piiloom.generation.composer.filling import capitalised, fill, slot_name
from piiloom.generation.composer.qualifying import qualified
from piiloom.generation.composer.wording import Band, draw_clear, expand_clear, in_band, marked_length, to_avoid
from piiloom.taxonomy.bank_checks import BOTH
from piiloom.taxonomy.scenarios import Scenario, Talk

Value = Mapping[str, str]
# Share of texts that tell both facts of a pair in one sentence.
_TOGETHER = 0.5
# The text aims at the band's minimum times a factor between these two.
_AIM = (1.0, 1.7)
_FACTS_FIRST = 0.45


def compose_situation(
    scenario: Scenario,
    talk: Talk,
    values: Sequence[Value],
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
    scenario: Scenario, talk: Talk, values: Sequence[Value], band: Band, avoid: Sequence[str], rng: random.Random, locale: str
) -> str:
    tells = _tells(scenario, values, rng)
    lines = [qualified(_filled(draw_clear(patterns, avoid, rng), told, locale), told, talk, rng) for patterns, told in tells]
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


def _tells(scenario: Scenario, values: Sequence[Value], rng: random.Random) -> list[tuple[Sequence[str], list[Value]]]:
    """Return (patterns, values that they tell) for all *values*; the two values of a pair are sometimes told in one sentence."""
    pair = [value for value in values if value["type"] in scenario.pair]
    further = [value for value in values if value["type"] not in scenario.pair]
    told: list[tuple[Sequence[str], list[Value]]] = [(scenario.also[value["type"]].tells, [value]) for value in further]
    if len(pair) == 2 and rng.random() < _TOGETHER:
        return [(scenario.tells[BOTH], pair), *told]
    return [*((scenario.tells[value["type"]], [value]) for value in pair), *told]


def _filled(pattern: str, values: Sequence[Value], locale: str) -> str:
    texts = {slot_name(value["type"]): value["text"] for value in values}
    ids = {slot_name(value["type"]): value["id"] for value in values}
    # Values that matter are never identifiers, so their first letter may be capitalized.
    return capitalised(fill(pattern, texts, lambda slot, text: mark(ids[slot], text), locale), value_too=True)
