"""Texts with their spans, from which the two models learn, and the features of tokens and spans.

The features are words and shapes around a token, and how a span relates to the question.

All of this is part of the probe's fixed protocol: figures are comparable only if nothing here changes. Even the order of the
features matters, since CRFsuite numbers them in order of appearance and sums in that order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from piiloom.corpus.record import Relevance


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldSpan:
    """One gold span; ``relevance`` is None if it has not been judged."""

    start: int
    end: int
    entity_type: str
    relevance: Relevance | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggingExample:
    """A text, the question about it ("": none), and its spans, sorted and disjoint.

    Examples that share one of their ``group_keys`` (a story, a scenario …) say too much about each other to learn from one what the other
    is to be tested on.
    """

    context: str
    question: str
    spans: tuple[GoldSpan, ...]
    group_keys: tuple[str, ...] = ()


WordFeatures = dict[str, str | float]

OUTSIDE = "O"

_TOKEN = re.compile(r"\w+(?:[’'`\-]\w+)*|[^\w\s]")
_WORD = re.compile(r"\w+")
NEIGHBOURS = (-3, -2, -1, 1, 2, 3)
_STOP_WORDS = frozenset(
    "the a an i my me to of for and in on is are am do does can could should would what how which with be it at by from if this "
    "that or as".split()
)


class WordToken(NamedTuple):
    """A word or a punctuation mark, and its character offsets."""

    text: str
    start: int
    end: int


class FoundSpan(NamedTuple):
    """A span predicted by the detector, in character offsets."""

    start: int
    end: int
    entity_type: str


def tokenise(context: str) -> list[WordToken]:
    """Return the tokens of *context* in order."""
    return [WordToken(found.group(), found.start(), found.end()) for found in _TOKEN.finditer(context)]


def bio_labels(tokens: Sequence[WordToken], spans: Iterable[GoldSpan]) -> list[str]:
    """Return one label per token: ``B-type`` where a span begins, ``I-type`` inside it, else ``O``. A span covers tokens it overlaps."""
    labels = [OUTSIDE] * len(tokens)
    for span in spans:
        prefix = "B-"
        for position, token in enumerate(tokens):
            if token.start < span.end and token.end > span.start:
                labels[position] = prefix + span.entity_type
                prefix = "I-"
    return labels


def labelled_spans(tokens: Sequence[WordToken], labels: Sequence[str]) -> list[FoundSpan]:
    """Return the spans that *labels* encode; an ``I-`` label after another type, or after ``O``, begins a span."""
    found: list[FoundSpan] = []
    inside = False
    for token, label in zip(tokens, labels, strict=True):
        entity_type = label[2:]
        if label == OUTSIDE:
            inside = False
        elif label.startswith("B") or not inside or found[-1].entity_type != entity_type:
            found.append(FoundSpan(token.start, token.end, entity_type))
            inside = True
        else:
            found[-1] = found[-1]._replace(end=token.end)
    return found


@lru_cache(maxsize=100_000)
def shape(word: str) -> str:
    """Return the shape of *word*: ASCII capitals as X, lower-case letters as x, digits as 9, runs of one character cut to two."""
    plain = re.sub(r"[A-Z]", "X", re.sub(r"[a-z]", "x", re.sub(r"\d", "9", word)))
    return re.sub(r"(.)\1{2,}", r"\1\1", plain)


def token_features(tokens: Sequence[WordToken]) -> list[WordFeatures]:
    """Return the features of each token, from the token itself and three tokens on either side."""
    words = [token.text.lower() for token in tokens]
    shapes = [shape(token.text) for token in tokens]
    rows = []
    for at, (token, lower) in enumerate(zip(tokens, words, strict=True)):
        text = token.text
        row: WordFeatures = {
            "b": 1.0,
            "w": lower,
            "s": shapes[at],
            "p3": text[:3].lower(),
            "x3": text[-3:].lower(),
            "x2": text[-2:].lower(),
            "cap": text[:1].isupper(),
            "dig": any(character.isdigit() for character in text),
        }
        for distance in NEIGHBOURS:
            other = at + distance
            if not 0 <= other < len(tokens):
                row[f"{distance}w"] = "<pad>"
                continue
            row[f"{distance}w"] = words[other]
            if abs(distance) == 1:
                row[f"{distance}s"] = shapes[other]
                row[f"{distance}ww"] = f"{words[min(at, other)]}_{words[max(at, other)]}"
        rows.append(row)
    return rows


def relevance_features(context: str, question: str, span: GoldSpan | FoundSpan) -> WordFeatures:
    """Return the features for whether *span* matters to *question*: its type, its position, and words shared with the question."""
    asked = [word for word in _WORD.findall(question.lower()) if word not in _STOP_WORDS]
    asked_stems = {_stem(word) for word in asked}
    begin, end = context.rfind(".", 0, span.start) + 1, context.find(".", span.end)
    sentence = context[begin : end if end > 0 else len(context)].lower()
    shared = {_stem(word) for word in _WORD.findall(sentence) if word not in _STOP_WORDS} & asked_stems
    row: WordFeatures = {
        "ty": span.entity_type,
        "ov": min(4, len(shared)),
        "pos": int(4 * span.start / max(1, len(context))),
        "inq": any(_stem(word) in asked_stems for word in context[span.start : span.end].lower().split()),
        "ovany": bool(shared),
    }
    for word in asked:
        row[f"q_{_stem(word)}"] = 1
        row[f"t_{span.entity_type}_{_stem(word)}"] = 1
    return row


def _stem(word: str) -> str:
    return word[:5]
