"""Documents for the tests of the gallery, written as people read them, and predictions with errors of every kind."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from piiloom.corpus.record import Record
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from tests.evaluation.page_corpora import ATTACK, WIDE
from tests.evaluation.report_records import marked, varied

_TYPES = ("name", "place", "job")
_ODD = re.compile(r"\w+")


def mention(text: str, start: int, end: int, entity_type: str | None = "name", **labels: str) -> AnnotatedMention:
    """The mention of *text* at a place."""
    return AnnotatedMention(text=text[start:end], entity_type=entity_type, start=start, end=end, **labels)  # type: ignore[arg-type]


def pair_of(
    text: str | None,
    gold: Sequence[AnnotatedMention] = (),
    found: Sequence[AnnotatedMention] = (),
    *,
    name: str | None = "d1",
    **facts: str,
) -> Pair:
    """A pair of documents; *facts* are question and locale."""
    return Pair(
        gold=AnnotatedDocument(where="gold.jsonl:1", id=name, text=text, mentions=tuple(gold), **facts),  # type: ignore[arg-type]
        found=AnnotatedDocument(where="found.jsonl:1", id=name, text=text, mentions=tuple(found)),
    )


def document_of(record: Record) -> AnnotatedDocument:
    """A record as a document."""
    return AnnotatedDocument(
        where=f"gold.jsonl:{record.id}",
        id=record.id,
        text=record.context,
        question=record.question,
        locale=record.locale,
        mentions=tuple(
            AnnotatedMention(
                text=span.text_in(record.context),
                entity_type=span.entity_type,
                start=span.start,
                end=span.end,
                relevance=span.relevance,
                subject=span.subject,
            )
            for span in record.spans
        ),
    )


def perturbed(document: AnnotatedDocument, *, seed: int, share: float = 0.3) -> Pair:
    """*document* beside a prediction in which about *share* of the mentions are wrong, each in one way or another."""
    rng = random.Random(f"{seed} {document.id}")
    text = document.text or ""
    found: list[AnnotatedMention] = []
    for one in document.mentions:
        found += [one] if rng.random() >= share else _wrong(one, text, rng)
    words = list(_ODD.finditer(text))
    if words and rng.random() < share:
        word = rng.choice(words)
        found.append(mention(text, word.start(), word.end(), rng.choice(_TYPES), relevance="low"))
    if rng.random() < share / 4:
        found.append(AnnotatedMention(text="a value that stands nowhere", entity_type="name"))
    rng.shuffle(found)
    return Pair(gold=document, found=replace(document, where=document.where.replace("gold", "found"), mentions=tuple(found)))


def _wrong(one: AnnotatedMention, text: str, rng: random.Random) -> list[AnnotatedMention]:
    start, end = one.place or (0, 0)
    turned = {"high": "low", "low": "high", None: None}[one.relevance]

    def at(first: int, last: int) -> list[AnnotatedMention]:
        first, last = max(0, first), min(len(text), last)
        return [replace(one, text=text[first:last], start=first, end=last)] if first < last else []

    middle = (start + end) // 2
    ways = [
        [],
        [replace(one, entity_type=rng.choice([name for name in _TYPES if name != one.entity_type]))],
        [replace(one, relevance=turned)],  # type: ignore[arg-type]
        at(start - 4, end),
        at(start + 1, end),
        at(start + 1, end + 3),
        at(start, middle) + at(middle + 1, end),
    ]
    return rng.choice(ways)


def hostile_pairs() -> list[Pair]:
    """Markup in every field that is shown, and texts in which code points are no UTF-16 units."""
    text = f"Before {ATTACK} after. \u202e\u2066 odd"
    spot = mention(text, 7, 7 + len(ATTACK), ATTACK, relevance="high", subject=ATTACK)
    other = replace(spot, entity_type=f"{ATTACK}2", end=spot.end, subject=None)
    attacked = Pair(
        gold=AnnotatedDocument(where=ATTACK, id=ATTACK, text=text, question=f"Q {ATTACK}", locale=ATTACK, mentions=(spot,)),
        found=AnnotatedDocument(
            where=ATTACK, id=ATTACK, text=text, mentions=(other, AnnotatedMention(text=f"{ATTACK} nowhere", entity_type=ATTACK))
        ),
    )
    wide = document_of(marked(WIDE, "Wide?", name="wide"))
    return [attacked, Pair(gold=wide, found=replace(wide, mentions=wide.mentions[:1]))]


def some_pairs(number: int = 40) -> list[Pair]:
    """Perturbed copies of the usual records, each with an id of its own."""
    records = varied()
    pairs = []
    for at in range(number):
        document = document_of(records[at % len(records)])
        named = replace(document, where=f"gold.jsonl:{at}", id=f"d{at:03}")
        pairs.append(perturbed(named, seed=3, share=0.6))
    return pairs
