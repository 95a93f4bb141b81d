"""Composing questions: a pattern of the scenario, at times after a preface, before a tail or with a second question."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from generation.composer.filling import capitalised, fill
from generation.composer.wording import folded, says_any
from screening.stemming import content_stems
from taxonomy.grammar import expand
from taxonomy.scenarios import Scenario, Talk

Value = Mapping[str, str]
# Shares of questions with a statement before them, with a second question after them, and with a tail.
_PREFACE, _FOLLOW_UP, _TAIL = 0.35, 0.42, 0.1
_TRIES = 8
# So many questions are thought of; the one that takes up most of what was told is asked.
_CANDIDATES = 3


def compose_draft(scenario: Scenario, talk: Talk, values: Sequence[Value], rng: random.Random) -> str:
    """The question with every value that matters in it."""
    personal = capitalised(expand(rng.choice(scenario.questions["personal"]), rng))
    if not values:
        return personal
    told = "; ".join(value["text"] for value in values)
    return f"{capitalised(fill(expand(rng.choice(talk.drafts), rng), {'values': told}, lambda _, text: text))} {personal}"


def compose_question(
    scenario: Scenario, talk: Talk, cue_level: str, told: str, values: Sequence[Value], others: Sequence[str], rng: random.Random
) -> str:
    """A question of *cue_level* that shares no content word with *values* and holds none of *others*, if one was found in some draws.

    *told* is what the context says of the matter: people ask in the words in which they have just told.
    """
    stems = frozenset().union(*(content_stems(value["text"]) for value in values)) if values else frozenset()
    avoid = folded([*others, *(value["text"] for value in values)])
    spoken = content_stems(told) - stems
    found: list[tuple[int, str]] = []
    question = ""
    for _ in range(_TRIES):
        question = capitalised(expand(rng.choice(scenario.questions[cue_level]), rng))
        asked = content_stems(question)
        if stems.isdisjoint(asked) and not says_any(question.casefold(), avoid):
            found.append((len(asked & spoken), question))
        if len(found) == _CANDIDATES:
            break
    best = max(found, key=lambda candidate: candidate[0])[1] if found else question
    dressed = _dressed(best, talk, rng)
    return dressed if stems.isdisjoint(content_stems(dressed)) and not says_any(dressed.casefold(), avoid) else best


def _dressed(question: str, talk: Talk, rng: random.Random) -> str:
    """Put a statement before it, and a tail or a second question after it, now and then."""
    dressed = question
    dice = rng.random()
    if dice < _FOLLOW_UP and talk.follow_ups:
        dressed = f"{dressed} {capitalised(expand(rng.choice(talk.follow_ups), rng))}"
    elif dice > 1 - _TAIL and talk.tails:
        dressed = f"{dressed.removesuffix('?')}{expand(rng.choice(talk.tails), rng)}"
    if rng.random() < _PREFACE and talk.prefaces:
        dressed = f"{capitalised(expand(rng.choice(talk.prefaces), rng))} {dressed}"
    return dressed
