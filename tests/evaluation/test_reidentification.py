"""The attack on masked documents: what can be read, how unique it is, and what links documents."""

from __future__ import annotations

import json
import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention
from piiloom.evaluation.reidentification.attack import SEARCHED, Attack, Subject, still_read
from piiloom.evaluation.reidentification.folder import attack_tables
from piiloom.foundation.errors import DataError, UsageError
from tests.longer import case_by_case, few


def subject(text, *values, surrogates=None):
    """A document with values written "type:value" or, of high relevance, "type:value!"."""
    mentions = []
    for value in values:
        kind, _, told = value.partition(":")
        mentions.append(AnnotatedMention(text=told.removesuffix("!"), entity_type=kind, relevance="high" if told.endswith("!") else "low"))
    return Subject(document=AnnotatedDocument(where="made", text=text, mentions=tuple(mentions)), surrogates=surrogates)


def attacked(subjects, **settings):
    attack = Attack(**settings)
    for one in subjects:
        attack.add(one)
    return attack.figures()


# Who has what: Ann A B E, Bob C D, Oslo A B C E, Rome D, 30 A C E, 31 B D.
CORPUS = [
    subject("A", "name:Ann!", "location:Oslo", "age:30"),
    subject("B", "name:Ann", "location:Oslo", "age:31!"),
    subject("C", "name:Bob!", "location:Oslo", "age:30!"),
    subject("D", "name:Bob", "location:Rome", "age:31"),
    subject("E", "name: ANN ", "location:Oslo!", "age:30"),
]


def test_k_and_the_smallest_combination_by_hand():
    found = attacked(CORPUS)
    assert (found.records, found.documents, list(found.policies)) == (5, 5, ["none", "relevance-aware", "all"])
    none = found.policies["none"]
    # A and E are alike, k = 2. B is told by Ann and 31, C by Bob and Oslo, D by Rome alone.
    assert (none.values, none.holding, none.unique, none.least_k, none.median_k, none.small) == (15, 5, 3, 1, 1, 5)
    assert none.unique_by == {1: 1, 2: 3, 3: 3}
    assert none.histogram == {"1": 3, "2": 2, "3-4": 0, "5-9": 0, "10-19": 0, "20-49": 0, "50-99": 0, "100+": 0}
    assert none.alone == 3
    # What is left: Ann (A, B, E have it), 31 (B, D), Bob and 30 (C alone), nothing (all five), Oslo (A, B, C, E).
    aware = found.policies["relevance-aware"]
    assert (aware.values, aware.holding, aware.unique, aware.least_k, aware.median_k, aware.small) == (5, 4, 1, 1, 3, 4)
    assert aware.unique_by == {1: 0, 2: 1, 3: 1}
    assert aware.histogram["3-4"] == 2
    assert aware.alone == 5
    nothing = found.policies["all"]
    assert (nothing.values, nothing.holding, nothing.unique, nothing.least_k, nothing.small) == (0, 0, 0, 5, 0)
    assert nothing.unique_by == {1: 0, 2: 0, 3: 0}


def test_documents_that_share_a_rare_value_are_linked():
    found = attacked([*CORPUS, subject("F", "name:Bob!", "age:99")], rare=3).policies
    # Bob is left in C and F, and in none of the others; Ann in A alone, though B and E have her, too.
    assert found["relevance-aware"].linked == {"documents": 2, "groups": 1, "largest_group": 2}
    none, aware = (attacked(CORPUS, rare=2).policies[policy].linked for policy in ("none", "relevance-aware"))
    assert tuple(none.values()) == (3, 1, 3)  # C and D by Bob, B and D by 31; Ann is in three documents
    assert tuple(aware.values()) == (0, 0, 0)
    assert attacked(CORPUS, rare=3).policies["none"].linked["documents"] == 5


def test_the_attacker_looks_at_the_chosen_types_only():
    found = attacked(CORPUS, types=["location"], policies=["none"])
    assert list(found.policies) == ["none"]
    assert (found.policies["none"].unique, found.policies["none"].histogram["3-4"]) == (1, 4)
    assert found.to_json()["attacker"]["types"] == ["location"]


@case_by_case(
    ("others", "unique_by"),
    [
        # Each pair of A's values is somebody else's as well, all three are not.
        ([["x:1", "x:2"], ["x:2", "x:3"], ["x:1", "x:3"]], {1: 0, 2: 0, 3: 1}),
        # Each three of A's four values are somebody else's: unique, but by no combination that is tried.
        ([["x:1", "x:2", "x:3"], ["x:1", "x:2", "x:4"], ["x:1", "x:3", "x:4"], ["x:2", "x:3", "x:4"]], {1: 0, 2: 0, 3: 0}),
    ],
)
def test_combinations_of_three_and_more(others, unique_by):
    own = sorted({value for values in others for value in values})
    # Each of the others comes twice, so that none of them is unique.
    found = attacked([subject("A", *own), *(subject(f"{number} {twin}", *values) for twin in "ab" for number, values in enumerate(others))])
    assert found.policies["none"].unique == 1
    assert found.policies["none"].unique_by == unique_by


def test_a_search_that_leaves_values_out_says_so():
    many = [f"x:{number}" for number in range(SEARCHED + 2)]
    # Whatever is left out of the many, somebody has the rest; so no three of them are unique.
    others = [subject(f"{number} {twin}", *(one for one in many if one != left)) for twin in "ab" for number, left in enumerate(many)]
    none = attacked([subject("A", *many), *others]).policies["none"]
    assert (none.unique, none.unique_by[3], none.in_part) == (1, 0, 1)
    assert "1 document only the rarest" in attack_tables(attacked([subject("A", *many), *others]))[0].note


def test_records_of_one_text_are_one_document_and_what_is_left_in_one_is_known():
    asked = [subject("A", "name:Ann!", "age:30"), subject("A", "name:Ann", "age:30!"), subject("B", "name:Ann!", "age:31!")]
    found = attacked(asked)
    assert (found.records, found.documents) == (3, 2)
    assert (found.policies["relevance-aware"].values, found.policies["relevance-aware"].unique) == (4, 2)
    # Without a text (a table of entities), each is a document of its own.
    bare = [Subject(document=AnnotatedDocument(where="made", mentions=one.document.mentions)) for one in asked]
    assert attacked(bare).documents == 3


def placed(text, *values):
    return tuple(AnnotatedMention(text=text[start:end], entity_type="name", start=start, end=end) for start, end in values)


TEXT = "Ann Lee-Oh met Bo."


@case_by_case(
    ("predicted", "left"),
    [
        ([], True),
        ([(0, 10)], False),
        ([(0, 18)], False),
        ([(4, 10), (0, 3)], False),  # no letter of it is left, only the blank
        ([(0, 3), (4, 7), (8, 10)], False),
        ([(0, 3), (2, 9)], True),  # the h is left
        ([(1, 10)], True),
        ([(3, 4)], True),
        ([(15, 17)], True),
        ([(8, 10), (5, 7), (0, 2), (2, 3), (4, 5)], False),  # in any order
    ],
)
def test_a_value_is_masked_if_no_letter_of_it_is_left(predicted, left):
    one = Subject(
        document=AnnotatedDocument(where="gold", text=TEXT, mentions=placed(TEXT, (0, 10))),
        found=AnnotatedDocument(where="found", mentions=placed(TEXT, *predicted)),
    )
    assert still_read(one, "predictions") == [left]


def test_values_without_a_place_are_masked_by_predictions_without_one():
    gold = (AnnotatedMention(text="Ann Lee", entity_type="name"), AnnotatedMention(text="Bo", entity_type="name"))
    found = (AnnotatedMention(text="ann  lee", entity_type="anything"), AnnotatedMention(text="Bo", entity_type="name", start=15, end=17))
    one = Subject(
        document=AnnotatedDocument(where="gold", mentions=gold), found=AnnotatedDocument(where="found", text=TEXT, mentions=found)
    )
    assert still_read(one, "predictions") == [False, True]


def test_surrogates_of_names():
    subjects = [
        subject("1", "name:Ann", "name:Bob", surrogates=("Eve", "Bob")),  # Bob was not replaced
        subject("2", "name:Ann", surrogates=("eve",)),  # Ann is Eve again: the two documents are truly linked
        subject("3", "name:Cy", surrogates=("Eve",)),  # and here Eve is somebody else: two pairs that are wrong
        subject("4", "name:Di", surrogates=("Ann",)),  # points to the Ann of other documents
        subject("5", "name:", "age:30", surrogates=("Kim", "30")),  # whose original is not known
        subject("6", "name:", surrogates=("Kim",)),
    ]
    found = attacked(subjects)
    links = found.surrogate_names
    assert links is not None
    assert links == {
        "documents": 6,
        "surrogates": 4,  # Eve Bob Ann Kim
        "originals": 4,  # Ann Bob Cy Di
        "surrogates_in_several_documents": 2,
        "linked_documents": 5,  # Eve in 1 2 3, Kim in 5 6
        "linked_pairs": 4,  # three of Eve's and one of Kim's, of which 1–2 is true
        "truly_linked_pairs": 1,
        "originals_with_one_surrogate_in_several_documents": 1,
        "surrogates_that_are_an_original_of_their_document": 1,
        "surrogates_that_are_an_original_of_another_document": 1,
        "surrogates_of_several_originals": 1,
    }
    # Only what was not replaced is left: Bob, and the age.
    assert (found.policies["surrogates"].values, found.policies["surrogates"].unique) == (2, 2)
    assert [table.title for table in attack_tables(found)][1] == "surrogates of names"
    assert attacked(subjects, name_types=["person"]).surrogate_names is None


def test_what_cannot_be_attacked():
    with pytest.raises(DataError, match="no documents"):
        Attack().figures()
    with pytest.raises(UsageError, match="no value has a relevance"):
        attacked([Subject(document=AnnotatedDocument(where="x", text="t", mentions=placed("t", (0, 1))))], policies=["relevance-aware"])
    with pytest.raises(UsageError, match="there are no predictions"):
        attacked(CORPUS, policies=["predictions"])
    with pytest.raises(UsageError, match="two documents at least"):
        Attack(rare=1)
    empty = attacked([subject("nothing here")])
    assert (empty.policies["none"].unique, empty.policies["none"].least_k, empty.policies["none"].holding) == (1, 1, 0)


VALUES = [f"{kind}:{number}" for kind in "ab" for number in range(3)]
DOCUMENTS = st.lists(st.lists(st.sampled_from(VALUES), max_size=5, unique=True), min_size=1, max_size=8)


def found_by_brute_force(documents):
    """Return k and the smallest combination of each of *documents* (sets of values), by looking at all combinations."""
    told = []
    for own in documents:
        k = sum(own <= other for other in documents)
        fits = (size for size in range(1, 4) for some in combinations(own, size) if sum(set(some) <= other for other in documents) == 1)
        told.append((k, next(fits, None)))
    return told


@few
@given(DOCUMENTS)
def test_it_is_what_brute_force_finds(documents):
    none = attacked([subject(f"text {number}", *values) for number, values in enumerate(documents)]).policies["none"]
    expected = found_by_brute_force([set(values) for values in documents])
    assert none.unique == sum(k == 1 for k, _ in expected)
    assert none.least_k == min(k for k, _ in expected)
    by_size = {size: sum(least is not None and least <= size for k, least in expected if k == 1) for size in (1, 2, 3)}
    assert none.unique_by == by_size


@few
@given(DOCUMENTS, st.data())
def test_masking_more_makes_nobody_unique_and_no_order_matters(documents, data):
    """Some values are found, and then some more; the documents that are unique can only become fewer."""
    fewer = [data.draw(st.sets(st.sampled_from(values))) if values else set() for values in documents]
    more = [one | data.draw(st.sets(st.sampled_from(VALUES))) for one in fewer]

    def masked_by(found):
        for number, (values, hits) in enumerate(zip(documents, found, strict=True)):
            one = subject(f"text {number}", *values)
            # Without places, a value is masked if it is predicted; the values of different types are different strings here.
            renamed = [
                AnnotatedMention(text=f"{m.entity_type} {m.text}", entity_type=m.entity_type, relevance=m.relevance)
                for m in one.document.mentions
            ]
            hit = tuple(AnnotatedMention(text=value.replace(":", " "), entity_type=None) for value in sorted(hits))
            gold = AnnotatedDocument(where="gold", text=one.document.text, mentions=tuple(renamed))
            yield Subject(document=gold, found=AnnotatedDocument(where="found", mentions=hit))

    less, much = attacked(masked_by(fewer)).policies["predictions"], attacked(masked_by(more)).policies["predictions"]
    assert much.unique <= less.unique <= attacked(masked_by(fewer)).policies["none"].unique
    assert all(much.unique_by[size] <= less.unique_by[size] for size in (1, 2, 3))
    assert much.least_k >= less.least_k
    assert much.linked["documents"] <= less.linked["documents"]
    subjects = list(masked_by(fewer))
    random.Random(1).shuffle(subjects)
    assert attacked(subjects).to_json() == attacked(masked_by(fewer)).to_json()


def test_the_figures_are_json():
    told = attacked(CORPUS).to_json()
    assert json.loads(json.dumps(told)) == told
    assert told["policies"]["none"]["unique_by"] == {"1": 1, "2": 3, "3": 3}
    assert told["surrogate_names"] is None
