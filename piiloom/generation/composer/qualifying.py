"""Add words before a value that are not part of it: "about $40", "my lovely sister", "in the Netherlands"."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

from piiloom.corpus.marks import MARK
from piiloom.taxonomy.scenarios import Talk

_WORD_BEFORE = re.compile(r"([\w'’]+) $")
_CHANCE = 0.17


def qualified(sentence: str, values: Sequence[Mapping[str, str]], talk: Talk, rng: random.Random) -> str:
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
