"""Compose questions: a pattern of the scenario, sometimes with a preface or a tail."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from piiloom.generation.composer.filling import capitalised, fill
from piiloom.generation.composer.wording import says_any, to_avoid
from piiloom.screening.question_leaks import content_stems
from piiloom.taxonomy.grammar import expand
from piiloom.taxonomy.scenarios import Scenario, Talk

Value = Mapping[str, str]
# Shares of questions with a statement before them, and with a tail.
_PREFACE, _TAIL = 0.1, 0.06
_TRIES = 16
# This many valid questions are drawn; the one that shares most words with what was told is taken.
_CANDIDATES = 8


def compose_draft(scenario: Scenario, talk: Talk, values: Sequence[Value], rng: random.Random) -> str:
    """Return a personal question after a sentence that states all *values*."""
    personal = capitalised(expand(rng.choice(scenario.questions["personal"]), rng))
    if not values:
        return personal
    told = "; ".join(value["text"] for value in values)
    return f"{capitalised(fill(expand(rng.choice(talk.drafts), rng), {'values': told}, lambda _, text: text))} {personal}"


def compose_question(
    scenario: Scenario, cue_level: str, told: str, beside: str, values: Sequence[Value], others: Sequence[str], rng: random.Random
) -> str:
    """Draw a question of *cue_level* that shares no content word with *values* and holds none of *others*.

    *told* is the text about the matter, *beside* the text of the asides. Questions with words of *told* and without words of *beside* are
    preferred, since people ask in the words that they have just used. If ``_TRIES`` draws find no valid question, the last one is
    returned.
    """
    stems, avoid = _stems(values), to_avoid(values, others)
    spoken, idle = content_stems(told) - stems, content_stems(beside)
    found: list[tuple[int, str]] = []
    question = ""
    for _ in range(_TRIES):
        question = capitalised(expand(rng.choice(scenario.questions[cue_level]), rng))
        asked = content_stems(question)
        if stems.isdisjoint(asked) and not says_any(question.casefold(), avoid):
            found.append((len(asked & spoken) - len(asked & idle), question))
        if len(found) == _CANDIDATES:
            break
    return max(found, key=lambda candidate: candidate[0])[1] if found else question


def dressed(question: str, values: Sequence[Value], others: Sequence[str], talk: Talk, rng: random.Random) -> str:
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


def _stems(values: Sequence[Value]) -> frozenset[str]:
    return frozenset(stem for value in values for stem in content_stems(value["text"]))
