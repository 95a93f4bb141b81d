"""Composing the post: sentences in a new order, some with a turn of phrase before them, in one or more paragraphs."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from corpus.marks import MARK

TURNS = (
    "By the way, ",
    "On another note, ",
    "For what it is worth, ",
    "Unrelated, but ",
    "Just so you can picture me, ",
    "As an aside, ",
    "Outside of all this, ",
    "To give you some background, ",
    "Anyway, ",
    "Also, ",
)
# First words that may lose their capital after a turn of phrase; anything else might be a name.
PLAIN_STARTS = frozenset(
    "after although because before during every for in it last most my our on once since some that the there these this though two "
    "until we what when whenever whether while with without yesterday as at by from lately recently all a an".split()
)
TURN_CHANCE = 0.3
PARAGRAPH_CHANCE = 0.25


def compose_passage(sentences: Sequence[str], relevance: Mapping[str, str], lead: str, rng: random.Random) -> str:
    """Arrange marked *sentences* so that the first value met has the relevance *lead* (by value id in *relevance*)."""
    order = list(sentences)
    rng.shuffle(order)
    leading = next((s for s in order if _first_relevance(s, relevance) == lead), order[0])
    order.remove(leading)
    text = leading
    for sentence in order:
        text += ("\n\n" if rng.random() < PARAGRAPH_CHANCE else " ") + _turned(sentence, relevance, rng)
    return text


def _first_relevance(sentence: str, relevance: Mapping[str, str]) -> str | None:
    found = MARK.search(sentence)
    return relevance[found.group(1)] if found else None


def _turned(sentence: str, relevance: Mapping[str, str], rng: random.Random) -> str:
    """Put a turn of phrase before an aside now and then; a situation stands on its own."""
    if _first_relevance(sentence, relevance) == "high" or rng.random() > TURN_CHANCE:
        return sentence
    first = sentence.split(" ", 1)[0]
    if first in ("I", "I'm", "I've", "I'd", "I'll"):
        return rng.choice(TURNS) + sentence
    if first.casefold() in PLAIN_STARTS:
        return rng.choice(TURNS) + sentence[:1].lower() + sentence[1:]
    return sentence
