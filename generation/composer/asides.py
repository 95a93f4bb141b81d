"""Composing an aside: one or two clauses that each hold a value, with a clause about nothing in particular if it is short."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from corpus.marks import mark, strip_marks
from foundation.words import count_words
from generation.composer.filling import capitalised, fill
from taxonomy.grammar import expand
from taxonomy.scenarios import Bank

# Joints that claim no connection: the clauses have none.
JOINTS = (", and ", ", and ", ", while ", "; ", ", though ")
TRIES = 60


def compose_aside(
    bank: Bank, values: Sequence[Mapping[str, str]], band: tuple[int, int], rng: random.Random, *, fillers: Sequence[str] = ()
) -> str:
    """Compose one sentence of a word count within *band* that marks each of *values* once.

    *fillers* are those that this aside may use (all of the bank's when empty). Draws until a sentence fits; the last draw
    is given when none does, and the stage's validator then refuses it.
    """
    sentence = ""
    for _ in range(TRIES):
        clauses = [_clause(bank, value, rng) for value in values]
        if len(clauses) == 1 or sum(_length(clause) for clause in clauses) < band[0] - 6:
            clauses.append(expand(rng.choice(fillers or bank.fillers), rng))
        rng.shuffle(clauses)
        joint = rng.choice(JOINTS)
        sentence = capitalised(joint.join(clauses[:2]) + "".join(f", and {clause}" for clause in clauses[2:])) + "."
        if band[0] <= _length(sentence) <= band[1]:
            break
    return sentence


def _clause(bank: Bank, value: Mapping[str, str], rng: random.Random) -> str:
    patterns = bank.clauses_for(value["type"], value["subtype"])
    return fill(expand(rng.choice(patterns), rng), {"v": value["text"]}, lambda _, text: mark(value["id"], text))


def _length(marked: str) -> int:
    return count_words(strip_marks(marked).text)
