"""``text``: strings by type, as often as they are there."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.schemes.base import NO_TYPE
from tests.evaluation.scored_samples import scored, table, values
from tests.longer import few


def counts(*pairs):
    figures = scored("text", *pairs)
    return tuple(figures[name] for name in ("tp", "fp", "fn"))


def test_strings_count_as_often_as_they_are_there():
    assert counts((values("Michael", "Michael"), values("Michael"))) == (1, 0, 1)
    assert counts((values("Michael"), values("Michael", "Michael"))) == (1, 1, 0)
    # Not in another document, nor with other case, blanks, punctuation or composition.
    assert counts((values("Ann"), values()), (values(), values("Ann"))) == (0, 1, 1)
    assert counts((values("Ann", "Zoé"), values("ann", "Ann ", "Ann.", "Zoe\u0301"))) == (0, 4, 2)


def test_a_string_is_found_under_its_type_only():
    gold, found = values(("Ann", "name"), ("40", "age")), values(("Ann", "age"), ("40", "age"))
    counted = table("text", (gold, found))
    assert {name: list(row) for name, row in counted.by_type.items()} == {"age": [1, 1, 0], "name": [0, 0, 1]}
    assert counts((gold, found)) == (1, 1, 1)


def test_no_type_is_a_type():
    counted = table("text", (values(("Ann", None), ("Bob", None)), values(("Ann", None), ("Bob", "name"))))
    assert {name: list(row) for name, row in counted.by_type.items()} == {NO_TYPE: [1, 0, 1], "name": [0, 1, 0]}
    assert (counted.overall()["tp"], counted.overall()["fp"], counted.overall()["fn"]) == (1, 1, 1)


def test_precision_recall_and_f():
    # 3 of 4 predictions, 3 of 5 gold strings.
    pair = values("a", "b", "c", "d", "e"), values("a", "b", "c", "x")
    figures = scored("text", pair, beta=(2, 0.5))
    assert (figures["precision"], figures["recall"]) == (3 / 4, 3 / 5)
    p, r = 3 / 4, 3 / 5
    for name, beta in {"f1": 1, "f5": 5, "f2": 2, "f0.5": 0.5}.items():
        assert figures[name] == pytest.approx((1 + beta**2) * p * r / (beta**2 * p + r))


def test_nothing_at_all():
    figures = scored("text", (values(), values()))
    assert set(figures.values()) == {0}


def made_sides(rng, documents, entities):
    """*entities* gold strings over *documents* documents, repeated ones among them; some are lost, renamed, retyped or added."""
    types = ["NAME_STUDENT", "EMAIL", "ID_NUM", "URL_PERSONAL", None]
    names = ["Ann", "Bob", "Zoé", "ann", "Ann Lee", "Bob "]
    gold = [(rng.randrange(documents), rng.choice(names), rng.choice(types)) for _ in range(entities)]
    found = []
    for document, text, kind in gold:
        found += rng.choice(
            [
                [(document, text, kind)],
                [(document, text, kind)] * 2,
                [(document, text, rng.choice(types))],
                [(document, rng.choice(names), kind)],
                [(rng.randrange(documents), text, kind)],
                [],
            ]
        )
    rng.shuffle(found)
    return gold, found


def test_whole_numbers_of_a_large_set_are_exact():
    documents, entities = 13_613, 2_893
    gold, found = made_sides(random.Random(5), documents, entities)
    # Each prediction strikes out one equal gold entry, if there is one left.
    left, hits, by_type = list(gold), 0, Counter()
    for entry in found:
        if entry in left:
            left.remove(entry)
            hits += 1
            by_type[entry[2]] += 1
    grouped = [[[] for _ in range(documents)] for _ in range(2)]
    for side, entries in zip(grouped, (gold, found), strict=True):
        for document, text, kind in entries:
            side[document].append((text, kind))
    counted = table("text", *((values(*there), values(*given)) for there, given in zip(*grouped, strict=True)))
    figures = counted.overall()
    assert (figures["tp"], figures["fp"], figures["fn"]) == (hits, len(found) - hits, entities - hits)
    assert 1000 < hits < 2000
    assert len(counted.rows) == documents
    for kind in ("EMAIL", None):
        there, given = (sum(entry[2] == kind for entry in side) for side in (gold, found))
        assert list(counted.by_type[kind or NO_TYPE]) == [by_type[kind], given - by_type[kind], there - by_type[kind]]


ENTRIES = st.lists(st.tuples(st.sampled_from(["Ann", "ann", "Bob", ""]), st.sampled_from(["name", "age", None])), max_size=8)


@few
@given(data=st.data(), gold=ENTRIES, found=ENTRIES)
def test_order_does_not_matter_and_sides_can_be_exchanged(data, gold, found):
    figures = scored("text", (values(*gold), values(*found)))
    mixed = values(*data.draw(st.permutations(gold))), values(*data.draw(st.permutations(found)))
    assert scored("text", mixed) == figures
    back = scored("text", (values(*found), values(*gold)))
    assert (back["precision"], back["recall"], back["fp"], back["fn"]) == (
        figures["recall"],
        figures["precision"],
        figures["fn"],
        figures["fp"],
    )
    more = scored("text", (values(*gold), values(*found, ("nobody", "name"))))
    assert more["precision"] <= figures["precision"]
    assert more["recall"] == figures["recall"]
