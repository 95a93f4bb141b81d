"""``tab`` by hand: entities, annotators, partial masks, information content; and what must hold of any documents."""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from piiloom.evaluation.schemes.base import OVERALL, SchemeSettings
from piiloom.evaluation.schemes.registry import make_scheme
from piiloom.evaluation.schemes.tab import TabScheme
from piiloom.evaluation.scoring.counts import CountTable
from tests.evaluation.masking_documents import FOUND, FOUND_MENTION, GOLD, TEXT, document, masking, mention
from tests.longer import case_by_case, few

MET = "Ann Lee met Bo Ray in Rome. Lee paid Bo. Ann left."


def scored(*pairs: tuple[AnnotatedDocument, AnnotatedDocument], **options: Any) -> dict[str, float]:
    table = CountTable(make_scheme("tab", SchemeSettings(**options)))
    for gold, found in pairs:
        table.add(Pair(gold=gold, found=found))
    return table.overall()


def two_annotators() -> AnnotatedDocument:
    """They disagree on whether Ann Lee is a direct identifier, on whether Rome needs masking, and on Bo Ray at all."""
    one: dict[str, Any] = {"annotator": "one"}
    two: dict[str, Any] = {"annotator": "two"}
    ann = [("Ann Lee", 1), ("Lee", 2), ("Ann", 2)]
    return document(
        MET,
        *(mention(MET, said, "PERSON", nth, value_id="e1", identifier="direct", **one) for said, nth in ann),
        mention(MET, "Bo Ray", "PERSON", value_id="e2", identifier="quasi", **one),
        mention(MET, "Bo", "PERSON", 2, value_id="e2", identifier="quasi", **one),
        mention(MET, "Rome", "LOC", value_id="e3", identifier="quasi", **one),
        *(mention(MET, said, "PERSON", nth, value_id="e1", identifier="quasi", **two) for said, nth in ann),
        mention(MET, "Rome", "LOC", value_id="e3", identifier="none", **two),
    )


def prediction() -> AnnotatedDocument:
    """Two of the three mentions of Ann Lee, both of Bo Ray, not Rome, and "met", which is wrong."""
    second = [mention(MET, "Lee", nth=2), mention(MET, "Bo", nth=2)]
    return document(MET, mention(MET, "Ann Lee"), mention(MET, "Bo Ray"), mention(MET, "met"), *second)


def test_two_annotators_who_disagree() -> None:
    figures = scored((two_annotators(), prediction()))
    # direct: e1 of one, 2 of its 3 mentions masked. quasi: e2 of one is protected, its e3 is not, nor is e1 of two.
    assert (figures["entity_recall_direct"], figures["entity_recall_quasi"], figures["entity_recall"]) == (0, 1 / 3, 1 / 4)
    # quasi: Bo Ray, Bo and not Rome of one; Ann Lee, Lee and not Ann of two.
    assert (figures["mention_recall_direct"], figures["mention_recall_quasi"], figures["mention_recall"]) == (2 / 3, 4 / 6, 6 / 9)
    # direct: Ann, Lee, Lee of 4. quasi: Bo, Ray, Bo of 4 for one, Ann, Lee, Lee of 4 for two.
    assert (figures["token_recall_direct"], figures["token_recall_quasi"], figures["token_recall"]) == (3 / 4, 6 / 8, 9 / 12)
    # 7 tokens are masked; one annotator agrees with 6, the other with Ann, Lee, Lee.
    assert figures["precision"] == figures["weighted_precision"] == 9 / 14
    # 5 mentions; 4 and 2.
    assert figures["mention_precision"] == figures["weighted_mention_precision"] == 6 / 10
    # The means over annotators: only one has a direct identifier; quasi 1/2 and 0; precision 6/7 and 3/7.
    assert (figures["macro_entity_recall_direct"], figures["macro_entity_recall_quasi"]) == (0, 1 / 4)
    assert figures["macro_weighted_precision"] == pytest.approx((6 / 7 + 3 / 7) / 2)


def test_counts_are_summed_over_documents() -> None:
    text = "Eve ran."
    whole = document(text, mention(text, "Eve", "PERSON", value_id="e", identifier="direct", annotator="one"))
    figures = scored((two_annotators(), prediction()), (whole, masking(text, "Eve")))
    assert (figures["entity_recall_direct"], figures["precision"]) == (1 / 2, 10 / 15)
    # Over the units that have one: 0 and 1; 6/7, 3/7 and 1.
    assert figures["macro_entity_recall_direct"] == 1 / 2
    assert figures["macro_weighted_precision"] == pytest.approx((6 / 7 + 3 / 7 + 1) / 3)


def test_by_type_recall_is_of_gold_and_precision_of_what_was_predicted() -> None:
    text = "Ann Lee in Rome"
    gold = document(text, mention(text, "Ann Lee", "PERSON"), mention(text, "Rome", "LOC"))
    found = document(text, mention(text, "Ann", "PER"), mention(text, "Rome", "LOC"), mention(text, "in", "LOC"), mention(text, "Lee"))
    scheme = make_scheme("tab", SchemeSettings())
    rows = {name: scheme.figures(np.asarray(row)) for name, row in scheme.count(gold, found).items()}
    assert set(rows) == {OVERALL, "PERSON", "LOC", "PER"}
    assert (rows["PERSON"]["entity_recall"], rows["PERSON"]["precision"]) == (1, 0)
    assert (rows["LOC"]["entity_recall"], rows["LOC"]["precision"]) == (1, 1 / 2)
    assert (rows["PER"]["entity_recall"], rows["PER"]["precision"]) == (0, 1)
    # What states no type is in the overall figures only, and once: Ann, Lee, Rome of 4 tokens.
    assert rows[OVERALL]["precision"] == 3 / 4


@case_by_case(
    ("said", "masked", "tokens"),
    [
        (("Ann-Marie O'Hara",), 1, 4 / 4),
        (("Ann", "Marie O", "Hara"), 1, 4 / 4),  # hyphen, blank and apostrophe may stay
        (("and Ann-Ma", "arie O'Hara (45"), 1, 4 / 4),  # ranges that overlap, and go beyond
        (("Ann-Marie O'Har",), 0, 3 / 4),
        (("nn-Marie O'Hara",), 0, 3 / 4),
        (("and", "(45)"), 0, 0),
        ((), 0, 0),
    ],
)
def test_what_is_no_blank_and_no_punctuation_has_to_be_masked(said: tuple[str, ...], masked: int, tokens: float) -> None:
    text = "and Ann-Marie O'Hara (45)"
    figures = scored((document(text, mention(text, "Ann-Marie O'Hara", "name")), masking(text, *said)))
    assert (figures["entity_recall_direct"], figures["mention_recall"], figures["token_recall"]) == (masked, masked, tokens)


def test_the_signs_that_the_script_of_the_authors_leaves() -> None:
    for sign in ",.-;:/&()[]–'\"’“”":
        text = f"so {sign}Ann{sign}Lee{sign}"
        gold = document(text, mention(text, text[3:], "name"))
        assert scored((gold, masking(text, "Ann", "Lee")))["mention_recall"] == 1, sign
    for sign in "$%@_€#+*=!?♥\\":
        text = f"so 5{sign}7 a"
        gold = document(text, mention(text, f"5{sign}7", "name"))
        assert scored((gold, masking(text, "5", "7")))["mention_recall"] == 0, sign
        assert scored((gold, masking(text, f"5{sign}", "7")))["mention_recall"] == 1, sign
    # A token is masked as a whole, also one of nothing but "_".
    text = "ann_lee __"
    gold = document(text, mention(text, "ann_lee __", "name"))
    assert scored((gold, masking(text, "ann", "lee")))["token_recall"] == 0
    assert scored((gold, masking(text, "ann_lee")))["token_recall"] == 1 / 2


def test_what_has_no_letter_or_digit_has_to_be_masked_too() -> None:
    text = "we ♥ ♥ you"
    gold = document(text, mention(text, "♥ ♥", "belief"))
    assert scored((gold, masking(text, "we")))["entity_recall_quasi"] == 0
    assert scored((gold, masking(text, "♥")))["entity_recall_quasi"] == 0
    assert scored((gold, document(text, mention(text, "♥"), mention(text, "♥", nth=2))))["entity_recall_quasi"] == 1


def test_words_that_may_stay() -> None:
    text = "Mr Smith saw Mr."
    gold = document(text, mention(text, "Mr Smith", "name"))
    assert scored((gold, masking(text, "Smith")))["entity_recall"] == 0
    assert scored((gold, masking(text, "Smith")), may_stay=("the", "mr"))["entity_recall"] == 1
    # A whole word only, and not a mention of nothing else.
    assert scored((gold, masking(text, "Smith")), may_stay=("m",))["entity_recall"] == 0
    only = document(text, mention(text, "Mr", "name", 2))
    assert scored((only, masking(text, "Smith")), may_stay=("mr",))["entity_recall"] == 0


def test_without_a_value_id_an_entity_is_a_type_and_a_text() -> None:
    text = "Rome, Rome, Rome"
    gold = document(text, mention(text, "Rome", "location"), mention(text, "Rome", "location", 2), mention(text, "Rome", "name", 3))
    figures = scored((gold, document(text, mention(text, "Rome"), mention(text, "Rome", nth=3))))
    # The location is missed once, so it is not protected; the name is another entity.
    assert (figures["entity_recall_quasi"], figures["entity_recall_direct"], figures["mention_recall_quasi"]) == (0, 1, 1 / 2)


def test_an_entity_is_direct_if_one_of_its_mentions_is() -> None:
    text = "Ann, she, Ann"
    gold = document(
        text,
        mention(text, "she", "PERSON", value_id="e", identifier="quasi"),
        mention(text, "Ann", "PERSON", value_id="e", identifier="direct"),
        mention(text, "Ann", "PERSON", 2, value_id="e", identifier="none"),  # may stay: the entity is protected all the same
    )
    figures = scored((gold, masking(text, "Ann", "she")))
    assert (figures["entity_recall_direct"], figures["mention_recall_direct"], figures["mention_recall_quasi"]) == (1, 1, 0)
    # To mask what need not be masked costs precision.
    assert scored((gold, document(text, mention(text, "Ann"), mention(text, "Ann", nth=2))))["precision"] == 1 / 2


@case_by_case(
    ("entity_type", "subtype", "kind"),
    [
        ("name", None, "direct"),
        ("PERSON", None, "direct"),
        ("code", "email", "direct"),
        ("location", "city", "quasi"),
        ("own", None, "quasi"),
    ],
)
def test_the_table_of_types_says_what_the_file_does_not(entity_type: str, subtype: str | None, kind: str, tmp_path: Path) -> None:
    text = "Xy"
    pair = document(text, mention(text, "Xy", entity_type, subtype=subtype)), masking(text, "Xy")
    other = {"direct": "quasi", "quasi": "direct"}[kind]
    assert (scored(pair)[f"entity_recall_{kind}"], scored(pair)[f"entity_recall_{other}"]) == (1, 0)
    file = tmp_path / "weights.yaml"
    file.write_text(f"types: {{{entity_type}: {{identifier: {other}}}}}")
    assert scored(pair, weights=file)[f"entity_recall_{other}"] == 1


def test_precision_by_information_content(tmp_path: Path) -> None:
    text = "Ann Lee said the very"
    tokens = [
        {"start": 0, "end": 3, "probability": 0.5},
        {"start": 4, "end": 5, "probability": 0.25},  # "Lee" in two pieces: the less likely one counts
        {"start": 5, "end": 7, "log_probability": -0.1},
        {"start": 13, "end": 16, "probability": 0.125},
    ]
    file = tmp_path / "p.jsonl"
    file.write_text(json.dumps({"id": "a", "tokens": tokens}))
    gold = document(text, mention(text, "Ann Lee", "name"))
    figures = scored((gold, masking(text, "Ann Lee", "the very")), token_probabilities=file)
    # In units of ln 2: Ann 1, Lee 2, the 3, very 0 (the model has no token there).
    assert figures["weighted_precision"] == pytest.approx(3 / 6)
    assert figures["precision"] == 2 / 4
    # Mentions by their least likely token: 2 of 2 + 3.
    assert figures["weighted_mention_precision"] == pytest.approx(2 / 5)
    assert figures["mention_precision"] == 1 / 2
    assert figures["macro_weighted_precision"] == pytest.approx(3 / 6)


def test_a_token_that_is_predicted_twice_counts_once() -> None:
    text = "Ann Lee said"
    gold = document(text, mention(text, "Ann Lee", "name"))
    figures = scored((gold, document(text, *(mention(text, said) for said in ("Ann Lee", "Ann Lee", "Lee", "said")))))
    # Ann, Lee of 3 tokens; of the ranges "Ann Lee", "Lee" and "said" two lie in the gold mention.
    assert (figures["precision"], figures["mention_precision"]) == (2 / 3, 2 / 3)


def test_a_token_has_to_lie_in_one_gold_mention() -> None:
    text = "Annabel"
    halves = document(text, mention(text, "Anna", "name"), mention(text, "bel", "name"))
    figures = scored((halves, masking(text, "Annabel")))
    assert (figures["entity_recall"], figures["precision"]) == (1, 0)


def test_empty_sides() -> None:
    text = "Ann ran."
    empty, full = document(text), document(text, mention(text, "Ann", "name"))
    assert set(scored((empty, empty)).values()) == {0.0}
    # Nobody is to be masked: one annotator, for whom all is wrong.
    scheme = TabScheme(SchemeSettings())
    wrong = dict(zip(scheme.columns, scheme.count(empty, masking(text, "Ann ran"))[OVERALL], strict=True))
    assert (wrong["precision_part"], wrong["precision_whole"]) == (0, 2)
    assert scored((full, empty))["entity_recall"] == 0
    without = document(text, AnnotatedMention(text="Ann", entity_type="name"))
    assert scored((without, masking(text, "Ann ran")))["mention_recall"] == 0  # it has no place that could be masked
    assert scored((full, without)) == scored((full, empty))  # and masks nothing


def test_texts_of_one_side_are_enough() -> None:
    gold, found = document(MET, mention(MET, "Ann Lee", "name")), masking(MET, "Ann Lee met")
    bare_gold, bare_found = document(None, *gold.mentions), document(None, *found.mentions)
    for pair in ((gold, bare_found), (bare_gold, found), (bare_gold, bare_found)):
        assert scored(pair) == scored((gold, found))
    # A prediction of nothing but places is read from the text of the gold file.
    places = document(None, *(replace(one, text="") for one in found.mentions))
    assert scored((gold, places)) == scored((gold, found))


def naive(gold: AnnotatedDocument, found: AnnotatedDocument) -> dict[str, float]:
    """The definitions again, by sets of characters."""
    hidden = {at for one in found.mentions for at in range(*one.place)}  # type: ignore[misc]
    tokens = {(one.start + t.start(), one.start + t.end()) for one in found.mentions for t in re.finditer(r"\w+", one.text)}  # type: ignore[operator]
    protected = entities = right = masked = 0
    annotators = {one.annotator for one in gold.mentions} or {None}
    for who in annotators:
        mine = [one for one in gold.mentions if one.annotator == who and kind_of(one) != "none"]
        for key in {key_of(one) for one in mine}:
            entities += 1
            protected += all(is_hidden(one, hidden) for one in mine if key_of(one) == key)
        masked += sum(is_hidden(one, hidden) for one in mine)
        right += sum(any(one.start <= a and b <= one.end for one in mine) for a, b in tokens)  # type: ignore[operator]
    whole = len(tokens) * len(annotators)
    return {"entities": entities, "protected": protected, "masked": masked, "right": right, "tokens": whole}


def kind_of(one: AnnotatedMention) -> str:
    return one.identifier or ("direct" if one.entity_type in {"name", "PERSON"} else "quasi")


def key_of(one: AnnotatedMention) -> object:
    return one.value_id or (one.entity_type, one.text)


def is_hidden(one: AnnotatedMention, hidden: set[int]) -> bool:
    assert one.start is not None
    signs = [at for at, sign in enumerate(one.text) if sign not in " \n,.-;:/&()[]–'\"’“”"]
    letters = signs or [at for at, letter in enumerate(one.text) if letter.isalnum()]
    solid = [at for at, letter in enumerate(one.text) if not letter.isspace()]
    return hidden >= {one.start + at for at in letters or solid or range(len(one.text))}


@few
@given(GOLD, FOUND, st.randoms(use_true_random=False))
def test_agrees_with_sets_of_characters_in_any_order(
    gold: list[AnnotatedMention], found: list[AnnotatedMention], order: random.Random
) -> None:
    scheme = TabScheme(SchemeSettings())
    pair = document(TEXT, *gold), document(TEXT, *found)
    counts = scheme.count(*pair)
    row = dict(zip(scheme.columns, counts[OVERALL], strict=True))
    assert naive(*pair) == {
        "entities": row["entity_recall_direct_whole"] + row["entity_recall_quasi_whole"],
        "protected": row["entity_recall_direct_part"] + row["entity_recall_quasi_part"],
        "masked": row["mention_recall_direct_part"] + row["mention_recall_quasi_part"],
        "right": row["precision_part"],
        "tokens": row["precision_whole"],
    }
    order.shuffle(gold)
    order.shuffle(found)
    again = scheme.count(document(TEXT, *gold), document(TEXT, *found))
    assert {name: list(row) for name, row in again.items()} == {name: list(row) for name, row in counts.items()}


RECALLS = [name for name in scored() if "recall" in name]


@few
@given(GOLD, FOUND, FOUND_MENTION)
def test_masking_more_never_lowers_recall_and_masking_everything_protects_all(
    gold: list[AnnotatedMention], found: list[AnnotatedMention], more: AnnotatedMention
) -> None:
    wanted = document(TEXT, *gold)
    before, after = scored((wanted, document(TEXT, *found))), scored((wanted, document(TEXT, *found, more)))
    assert all(before[name] <= after[name] for name in RECALLS)
    everything = scored((wanted, masking(TEXT, TEXT)))
    assert {everything[name] for name in RECALLS} <= {0.0, 1.0}
    assert everything["entity_recall"] == any(kind_of(one) != "none" for one in gold)


def test_information_content_is_minus_the_logarithm(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text(json.dumps({"id": "a", "tokens": [{"start": 0, "end": 3, "log_probability": -2.5}]}))
    scheme = TabScheme(SchemeSettings(token_probabilities=file))
    row = dict(zip(scheme.columns, scheme.count(document("Ann"), masking("Ann", "Ann"))[OVERALL], strict=True))
    assert row["weighted_precision_whole"] == 2.5 == -math.log(math.exp(-2.5))
