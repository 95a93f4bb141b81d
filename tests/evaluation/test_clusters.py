"""Clusters of documents: by their own keys, joined where one has several, and numbered alike in any order."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.inputs.documents import AnnotatedDocument, Pair
from piiloom.evaluation.scoring.counts import Clusters, count_documents, joint_numbers
from piiloom.foundation.errors import UsageError
from tests.longer import case_by_case, few


def clusters_of(documents, kind):
    clusters = Clusters(kind)
    for document in documents:
        clusters.add(Pair(gold=document, found=AnnotatedDocument(where="b:1")))
    return clusters


def document(name, *keys):
    return AnnotatedDocument(where=f"a:{name}", id=name, group_keys=keys)


def partition(documents, numbers):
    return {frozenset(d.id for d, n in zip(documents, numbers, strict=True) if n == number) for number in numbers}


STORIES = [
    document("a", "story:x", "persona:p"),
    document("b", "persona:p", "story:y"),
    document("c", "story:x"),
    document("d", "scenario:x", "persona:q"),  # no story: by itself
    document("e", "storyline:x"),  # a key of another kind that begins alike
]


@case_by_case(
    ("kind", "expected", "keyed"),
    [
        ("document", ["a", "b", "c", "d", "e"], 0),
        ("story", ["ac", "b", "d", "e"], 3),
        ("persona", ["ab", "c", "d", "e"], 3),
        ("text", ["a", "b", "c", "d", "e"], 0),
    ],
)
def test_documents_that_share_a_key_are_one_cluster(kind, expected, keyed):
    clusters = clusters_of(STORIES, kind)
    numbers = clusters.numbers()
    assert partition(STORIES, numbers) == {frozenset(names) for names in expected}
    assert sorted(set(numbers.tolist())) == list(range(len(expected)))
    assert clusters.keyed == keyed


def test_a_document_with_several_keys_joins_their_clusters():
    documents = [
        document("a", "persona:p"),
        document("b", "persona:q"),
        document("c"),
        document("d", "persona:p", "persona:q", "persona:p"),
    ]
    assert partition(documents, clusters_of(documents, "persona").numbers()) == {frozenset("abd"), frozenset("c")}


def test_equal_texts_without_ids_are_clusters_of_their_own():
    documents = [AnnotatedDocument(where=f"a:{n}", text="same") for n in range(3)] + [AnnotatedDocument(where=f"a:{n}") for n in range(3)]
    assert sorted(clusters_of(documents, "document").numbers().tolist()) == [0, 1, 2, 3, 4, 5]


def test_no_document_no_cluster():
    assert Clusters("story").numbers().shape == (0,)


def test_several_passes_number_the_same_documents_alike():
    first = [*STORIES, document("f", "persona:r", "persona:q")]
    second = [document("g"), *reversed(STORIES)]
    passes = [clusters_of(documents, "persona") for documents in (first, second)]
    numbers = [
        dict(zip((d.id for d in documents), own.tolist(), strict=True))
        for documents, own in zip((first, second), joint_numbers(passes), strict=True)
    ]
    assert {name: numbers[0][name] for name in "abcde"} == {name: numbers[1][name] for name in "abcde"}
    assert numbers[0]["f"] == numbers[1]["d"]  # by the persona q
    assert {*numbers[0].values(), *numbers[1].values()} == set(range(5))  # ab, c, df, e, g
    assert count_documents(passes) == 7
    assert count_documents([Clusters("story"), Clusters("story")]) == 0


def test_equal_texts_are_told_apart_by_their_place_in_several_passes():
    twice = clusters_of([AnnotatedDocument(where="a:1", text="same"), AnnotatedDocument(where="a:2", text="same")], "document")
    thrice = clusters_of([AnnotatedDocument(where=f"a:{n}", text="same") for n in range(3)], "document")
    found = [own.tolist() for own in joint_numbers([twice, thrice])]
    assert found == [[0, 1], [0, 1, 2]]
    assert count_documents([twice, thrice]) == 3


@case_by_case("kind", ["", "story:", "a b", "<b>"])
def test_what_no_key_begins_with_is_refused(kind):
    with pytest.raises(UsageError, match="--cluster"):
        Clusters(kind)


KEYS = st.lists(st.sampled_from(["story:a", "story:b", "story:c", "story:d", "persona:a"]), max_size=3)


@few
@given(keys=st.lists(KEYS, max_size=12), seed=st.integers(0, 1000))
def test_the_order_of_documents_changes_no_number(keys, seed):
    documents = [document(f"d{n}", *own) for n, own in enumerate(keys)]
    numbers = dict(zip((d.id for d in documents), clusters_of(documents, "story").numbers().tolist(), strict=True))
    shuffled = random.Random(seed).sample(documents, len(documents))
    assert dict(zip((d.id for d in shuffled), clusters_of(shuffled, "story").numbers().tolist(), strict=True)) == numbers


@few
@given(keys=st.lists(KEYS, min_size=1, max_size=10))
def test_clusters_are_the_connected_components_of_shared_keys(keys):
    documents = [document(f"d{n}", *own) for n, own in enumerate(keys)]
    numbers = clusters_of(documents, "story").numbers()
    stories = [{key for key in own if key.startswith("story:")} for own in keys]
    reach = np.eye(len(keys), dtype=bool) | np.array([[bool(a & b) for b in stories] for a in stories])
    for _ in keys:
        reach = reach @ reach
    assert np.array_equal(numbers[:, None] == numbers[None, :], reach)
