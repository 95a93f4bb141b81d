"""The privacy view by hand: leaks, weights, subjects, masking by relevance; and what must hold of any documents."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from piiloom.evaluation.schemes.base import SchemeSettings
from piiloom.evaluation.schemes.masking import PrivacyScheme
from piiloom.evaluation.schemes.registry import make_scheme
from piiloom.evaluation.scoring.counts import CountTable
from tests.evaluation.masking_documents import FOUND, FOUND_MENTION, GOLD, TEXT, document, masking, mention
from tests.longer import case_by_case, few


def table(*pairs: tuple[AnnotatedDocument, AnnotatedDocument], **options: Any) -> CountTable:
    found = CountTable(make_scheme("privacy", SchemeSettings(**options)))
    for gold, predicted in pairs:
        found.add(Pair(gold=gold, found=predicted))
    return found


def scored(*pairs: tuple[AnnotatedDocument, AnnotatedDocument], **options: Any) -> dict[str, float]:
    return table(*pairs, **options).overall()


def test_leaks_weights_and_subjects() -> None:
    one = "I am Ann Lee, HIV positive; my sister Eve Ott is 30. Call ann@x.org."
    two = "Bob Roy is 40."
    three = "He is 50."
    gold = [
        document(
            one,
            mention(one, "Ann Lee", "name", subtype="full_name", subject="self"),
            mention(one, "HIV positive", "health", subject="self"),
            mention(one, "Eve Ott", "name", subtype="full_name", subject="sister"),
            mention(one, "30", "age", subject="sister"),
            mention(one, "ann@x.org", "code", subtype="email"),
        ),
        document(two, mention(two, "Bob Roy", "name"), mention(two, "40", "age")),
        document(three, mention(three, "50", "age")),
    ]
    # Eve Ott is covered in part only, 40 not at all. Types do not matter, nor what else is predicted.
    found = [
        masking(one, "Ann Lee", "HIV positive", "sister Eve O", "30", "ann@x.org"),
        document(two, mention(two, "Bob Roy", "occupation"), mention(two, "is")),
        masking(three, "50"),
    ]
    figures = scored(*zip(gold, found, strict=True))
    assert figures["leak_rate"] == 1 / 2  # of the two documents with a name, the first one leaks
    assert figures["leak_rate_all"] == 1 / 3
    assert figures["recall"] == 6 / 8
    # Names and code 2, health 3, age 1: 2+3+2+1+2 + 2+1 + 1 = 14; missed are Eve Ott (2) and 40 (1).
    assert figures["weighted_recall"] == 11 / 14
    assert (figures["recall_self"], figures["recall_others"], figures["recall_unstated"]) == (2 / 2, 1 / 2, 3 / 4)
    assert figures["recall_self_minus_others"] == 1 / 2
    assert (figures["over_masking"], figures["under_masking"]) == (0, 0)  # no relevance is stated


def test_masking_by_relevance() -> None:
    text = "Ann, 30, from Rome, a nurse, has asthma"
    said = {"Ann": "low", "30": "low", "Rome": "low", "nurse": "high", "asthma": "high"}
    gold = document(text, *(mention(text, one, "name", relevance=side) for one, side in said.items()))
    told = {"Ann": "low", "30": "high", "nurse": "low", "asthma": "high"}
    found = document(text, *(mention(text, one, "age", relevance=side) for one, side in told.items()))
    figures = scored((gold, found))
    # Masked are Ann and nurse: nurse should stay, 30 and Rome should not.
    assert (figures["over_masking"], figures["under_masking"]) == (1 / 2, 2 / 3)
    # But 30 and asthma are found: only Rome is not.
    assert figures["recall"] == 4 / 5
    # A masker that states no relevance masks all it finds.
    figures = scored((gold, masking(text, *said)))
    assert (figures["over_masking"], figures["under_masking"]) == (1, 0)
    figures = scored((gold, document(text)))
    assert (figures["over_masking"], figures["under_masking"]) == (0, 1)


def test_what_the_file_says_goes_before_the_table_of_types() -> None:
    text = "Ann in Rome"
    says = document(
        text, mention(text, "Ann", "name", identifier="quasi"), mention(text, "Rome", "location", identifier="direct"), id="says"
    )
    assert scored((says, masking(text, "Rome")))["leak_rate"] == 0
    assert scored((says, masking(text, "Ann")))["leak_rate"] == 1
    # What needs no masking counts nowhere.
    none = document(text, mention(text, "Ann", "name", identifier="none", relevance="high", subject="self"))
    row = table((none, masking(text, "Ann"))).rows[0]
    assert dict(zip(PrivacyScheme.columns, row, strict=True)) == {**dict.fromkeys(PrivacyScheme.columns, 0), "documents": 1}


def test_weights_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "weights.yaml"
    file.write_text("types: {age: {weight: 5, identifier: direct}, PET: {weight: 0.5}}")
    text = "Ann is 30 and has Rex"
    gold = document(text, mention(text, "Ann", "name"), mention(text, "30", "age"), mention(text, "Rex", "PET"))
    figures = scored((gold, masking(text, "Ann", "Rex")), weights=file)
    assert figures["weighted_recall"] == 2.5 / 7.5
    assert figures["leak_rate"] == 1


def test_by_type() -> None:
    text = "Ann and Eve, 30"
    gold = document(text, mention(text, "Ann", "name"), mention(text, "Eve", "name"), mention(text, "30", "age"), mention(text, "and"))
    both = table((gold, masking(text, "Ann", "30")), (document(text), document(text)))
    rows = {name: dict(zip(PrivacyScheme.columns, row, strict=True)) for name, row in both.by_type.items()}
    assert set(rows) == {"name", "age"}
    assert {name: rows["name"][name] for name in ("documents", "documents_with_direct", "documents_leaking", "mentions", "found")} == {
        "documents": 1,
        "documents_with_direct": 1,
        "documents_leaking": 1,
        "mentions": 2,
        "found": 1,
    }
    assert (rows["age"]["documents_with_direct"], rows["age"]["documents_leaking"]) == (0, 0)
    assert (both.rows[:, 0].sum(), both.rows[:, 3].sum()) == (2, 4)


def test_without_a_place_nothing_is_found_or_masked() -> None:
    text = "Ann"
    without = document(text, AnnotatedMention(text="Ann", entity_type="name", relevance="low"))
    figures = scored((without, masking(text, "Ann")))
    assert (figures["leak_rate"], figures["recall"], figures["under_masking"]) == (1, 0, 1)
    assert scored((document(text, mention(text, "Ann", "name")), without))["leak_rate"] == 1
    assert set(scored((document(text), document(text))).values()) == {0.0}


def test_the_gap_needs_both_sides() -> None:
    text = "Ann"
    alone = document(text, mention(text, "Ann", "name", subject="self"))
    figures = scored((alone, masking(text, "Ann")))
    assert (figures["recall_self"], figures["recall_self_minus_others"]) == (1, 0)


BETTER_HIGH = ("recall", "weighted_recall", "recall_self", "recall_others", "recall_unstated", "over_masking")
BETTER_LOW = ("leak_rate", "leak_rate_all", "under_masking")


@few
@given(GOLD, FOUND, FOUND_MENTION, st.randoms(use_true_random=False))
def test_laws(gold: list[AnnotatedMention], found: list[AnnotatedMention], more: AnnotatedMention, order: random.Random) -> None:
    wanted, predicted = document(TEXT, *gold), document(TEXT, *found)
    before, after = scored((wanted, predicted)), scored((wanted, document(TEXT, *found, replace(more, relevance=None))))
    assert all(before[name] <= after[name] for name in BETTER_HIGH)
    assert all(before[name] >= after[name] for name in BETTER_LOW)
    everything = scored((wanted, masking(TEXT, TEXT)))
    assert everything["recall"] == any(one.identifier != "none" for one in gold)
    assert (everything["leak_rate"], everything["under_masking"]) == (0, 0)
    order.shuffle(gold)
    order.shuffle(found)
    scheme = PrivacyScheme(SchemeSettings())
    shuffled = scheme.count(document(TEXT, *gold), document(TEXT, *found))
    assert dict(scheme.count(wanted, predicted)) == dict(shuffled)


@case_by_case("name", PrivacyScheme.headline)
def test_headline_figures_exist(name: str) -> None:
    assert name in scored()
