"""Annotated documents for the tests of schemes: by hand, and drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from random import Random

from hypothesis import strategies as st

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from piiloom.evaluation.schemes.base import SchemeSettings
from piiloom.evaluation.schemes.registry import make_scheme
from piiloom.evaluation.scoring.counts import CountTable

TYPES = ("age", "name", "place")
# 15 words, of two to five characters; the drawn documents have mentions in it.
TEXT = "Ann Lee, 40, was in Ulm: her son Bo-Ann met Dr. Ed_1 at the inn."
SIZE = len(TEXT)
Place = tuple[int, int, str | None]


def document(*places: Place, text: str | None = TEXT, values: Iterable[tuple[str, str]] = ()) -> AnnotatedDocument:
    """Make a document of (start, end, type), and of (value, type) without a place."""
    mentions = [AnnotatedMention(text=(text or "")[start:end], entity_type=kind, start=start, end=end) for start, end, kind in places]
    mentions += [AnnotatedMention(text=value, entity_type=kind) for value, kind in values]
    return AnnotatedDocument(where="made:1", id="a", text=text, mentions=tuple(mentions))


def pair(gold: Iterable[Place], found: Iterable[Place], text: str | None = TEXT) -> Pair:
    return Pair(gold=document(*gold, text=text), found=document(*found, text=text))


def table_of(name: str, pairs: Iterable[Pair], beta: tuple[float, ...] = ()) -> CountTable:
    table = CountTable(make_scheme(name, SchemeSettings(beta=beta)))
    for one in pairs:
        table.add(one)
    return table


def figures_by_type(table: CountTable) -> dict[str, dict[str, float]]:
    return {kind: {name: float(value) for name, value in table.scheme.figures(row).items()} for kind, row in table.by_type.items()}


def shuffled(one: AnnotatedDocument, seed: int) -> AnnotatedDocument:
    mentions = list(one.mentions)
    Random(seed).shuffle(mentions)
    return replace(one, mentions=tuple(mentions))


@st.composite
def disjoint_places(draw, size=SIZE, most=5):
    """Up to *most* places that do not overlap, but may touch, in any order."""
    cuts = sorted(draw(st.sets(st.integers(0, size), max_size=2 * most)))
    kept = [(start, end) for start, end in pairwise(cuts) if draw(st.booleans())][:most]
    return draw(st.permutations([(start, end, draw(st.sampled_from(TYPES))) for start, end in kept]))


@st.composite
def any_places(draw, size=SIZE, most=5):
    """Up to *most* places that may overlap and repeat; some types are missing."""
    starts = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(1, 12), st.sampled_from((*TYPES, None))), max_size=most))
    return [(start, min(start + length, size), kind) for start, length, kind in starts]
