"""Composing questions: a pattern of the scenario, at times after a preface or before a tail."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from generation.composer.filling import capitalised, fill
from generation.composer.wording import folded, says_any
from screening.stemming import content_stems
from taxonomy.grammar import expand
from taxonomy.scenarios import Scenario, Talk

Value = Mapping[str, str]
_PREFACE, _TAIL = 0.42, 0.18
_TRIES = 8


def compose_draft(scenario: Scenario, talk: Talk, values: Sequence[Value], rng: random.Random) -> str:
    """The question with every value that matters in it."""
    personal = capitalised(expand(rng.choice(scenario.questions["personal"]), rng))
    if not values:
        return personal
    told = "; ".join(value["text"] for value in values)
    return f"{capitalised(fill(expand(rng.choice(talk.drafts), rng), {'values': told}, lambda _, text: text))} {personal}"


def compose_question(
    scenario: Scenario, talk: Talk, cue_level: str, values: Sequence[Value], others: Sequence[str], rng: random.Random
) -> str:
    """A question of *cue_level* that shares no content word with *values* and holds none of *others*, if one was found in some draws."""
    stems = frozenset().union(*(content_stems(value["text"]) for value in values)) if values else frozenset()
    avoid = folded([*others, *(value["text"] for value in values)])
    question = ""
    for _ in range(_TRIES):
        question = _drawn(scenario.questions[cue_level], talk, rng)
        if stems.isdisjoint(content_stems(question)) and not says_any(question.casefold(), avoid):
            break
    return question


def _drawn(patterns: Sequence[str], talk: Talk, rng: random.Random) -> str:
    question = capitalised(expand(rng.choice(patterns), rng))
    dice = rng.random()
    if dice < _PREFACE and talk.prefaces:
        return f"{capitalised(expand(rng.choice(talk.prefaces), rng))} {question}"
    if dice > 1 - _TAIL and talk.tails:
        return f"{question.removesuffix('?')}{expand(rng.choice(talk.tails), rng)}"
    return question
