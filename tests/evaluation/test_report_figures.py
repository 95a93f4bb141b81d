"""Figures about values, relevance, guessability, leaks and plans."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.corpus.record import RecordPlan, Span
from piiloom.evaluation.report.counts import ValueCount, is_direct, measure_cards, measure_plan, measure_types, measure_variety
from piiloom.evaluation.report.figures import (
    balanced_accuracy,
    measure,
    measure_guessability,
    measure_question_leaks,
    measure_question_use,
    measure_split_leaks,
    record_figures,
)
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.evaluation.report_records import PLAN, marked, varied
from tests.longer import few


def test_records_are_counted():
    counts = record_figures(
        [
            marked("[baker|occupation|high] and [cook|occupation|low]"),
            marked("[asthma|health|low], [gout|health|high], [30|age|high]"),
            marked("nothing"),
            marked("[Ann|name|none]"),
        ]
    )
    assert (counts.records, counts.spans, counts.high, counts.low, counts.unjudged, counts.without_pii) == (4, 6, 3, 2, 1, 1)
    assert (counts.without_pii_share, counts.exactly_two_high_share, counts.type_high_and_low_share) == (0.25, 0.25, 0.5)
    assert counts.high_first_share == 0.5


def test_types_and_values():
    records = [marked(f"[{v}|health|{r}] {n}") for n, (v, r) in enumerate([("Asthma", "high"), ("asthma", "low"), ("gout", "none")])]
    records.append(marked("[asthma|belief|low] and [gout|belief|low]"))
    health, belief = measure_types(records, taxonomy=shipped_taxonomy())
    assert (health.type, health.mentions, health.high, health.low, health.unjudged, health.records) == ("health", 3, 1, 1, 1, 3)
    assert (health.distinct, health.distinct_share, health.repeats) == (2, 2 / 3, ((1, 1), (2, 1)))
    assert health.top == (ValueCount(value="asthma", mentions=2, share=2 / 3), ValueCount(value="gout", mentions=1, share=1 / 3))
    assert (health.open, belief.open) == (True, False)
    assert (belief.mentions, belief.records) == (2, 1)


def test_types_stand_in_the_order_of_the_taxonomy_and_unknown_ones_last():
    record = marked("[x|zodiac sign|low] [Ann|name|low] [gout|health|low] [cook|occupation|low]")
    assert [each.type for each in measure_types([record], taxonomy=shipped_taxonomy())] == ["occupation", "health", "name", "zodiac sign"]


def test_cards():
    numbers = ("4111 1111 1111 1111", "4111-1111-1111-1112", "4111111111111", "12345", "AB4111111111111111")
    records = [marked(f"[{number}|code|low]") for number in numbers] + [marked("[4111111111111111|finance|low]")]
    cards = measure_cards(records)
    assert (cards.numbers, cards.passing_luhn) == (3, 1)


pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), min_size=2, max_size=40)


@few
@given(pairs.filter(lambda rows: len({label for _, label in rows}) == 2))
def test_balanced_accuracy_is_the_mean_recall_of_the_better_guess(rows):
    totals = Counter(label for _, label in rows)
    by_key = defaultdict(Counter)
    for key, label in rows:
        by_key[key][label] += 1
    hits = Counter()
    for counts in by_key.values():
        guess = max((0, 1), key=lambda label: counts[label] / totals[label])
        hits[guess] += counts[guess]
    expected = sum(hits[label] / totals[label] for label in (0, 1)) / 2
    keys, labels = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    assert balanced_accuracy(keys, labels) == pytest.approx(expected)


def test_what_gives_relevance_away_is_seen():
    records = [marked(f"[baker {n}|occupation|high] then [{n}|age|low] and more", "Does age matter?") for n in range(40)]
    guess = measure_guessability(records, seed=7)
    assert (guess.type.accuracy, guess.position.accuracy, guess.word_overlap.accuracy, guess.spans) == (1, 1, 0.5, 80)
    assert guess.type.shuffled == pytest.approx(0.5, abs=0.08)
    asked = [marked(f"[baker{n}|occupation|high] or [cook|occupation|low]", f"Is baker{n} right?") for n in range(10)]
    assert measure_guessability(asked, seed=7).word_overlap.accuracy == 1


def test_type_and_place_together_and_the_slot_of_a_story_give_more_away():
    plan = RecordPlan(pair=("age", "occupation"), scenario="s")
    rows = ["[cook|occupation|high] and [old|age|low]", "[old|age|high] and [cook|occupation|low]"]
    records = [marked(row, plan=plan) for row in rows for _ in range(10)]
    guess = measure_guessability(records, seed=7)
    assert (guess.type.accuracy, guess.type_and_position.accuracy, guess.story_and_slot.accuracy) == (0.5, 1, 0.5)
    assert measure_guessability([marked(row, plan=None) for row in rows], seed=7).story_and_slot.accuracy is None


def asked_of(text, group, *questions):
    """Records of one text: in a question's record the value of the type that it names is high."""
    found = []
    for wanted in questions:
        relevance = ["high" if kind == wanted else "low" for kind in ("occupation", "age")]
        record = marked(text.format(*relevance), f"Does the {wanted} of them count here?")
        found.append(replace(record, group_keys=(f"story:{group}", f"text:{group}")))
    return found


def cooks(number):
    texts = [(f"A [cook {n}|occupation|{{0}}] and [aged {n}|age|{{1}}].", n) for n in range(number)]
    return [record for text, n in texts for record in asked_of(text, n, "age", "occupation")]


def test_what_the_question_is_worth():
    use = measure_question_use(cooks(30))
    assert (use.grouped_share, use.turning_share, use.aware) == (1, 1, 1)
    assert use.blind == pytest.approx(0.5, abs=0.1)
    alone = measure_question_use(asked_of("A [cook|occupation|{0}].", 1, "occupation"))
    assert (alone.blind, alone.aware, alone.grouped_share, alone.turning_share) == (None, None, 0, None)


def test_the_text_of_a_contrast_group_counts_once():
    figures = measure({"all": cooks(3)}, taxonomy=shipped_taxonomy())
    assert (figures.contexts.texts, figures.counts.records) == (3, 6)


def test_one_label_leaves_nothing_to_guess():
    guess = measure_guessability([marked("[baker|occupation|high]"), marked("[Ann|name|none]")], seed=7)
    assert (guess.spans, guess.type.accuracy, guess.type.shuffled) == (1, None, None)
    assert measure_guessability([marked("nothing")], seed=7).position.accuracy is None


def test_question_leaks():
    records = [
        marked("I have [type two diabetes|health|low].", "Does Type Two Diabetes count?"),
        marked("I have [the flu|health|high].", "Is flu a reason?"),
        marked("I have [the flu|health|low].", "Is flu a reason?"),
        marked("I am from [NY|location|low].", "Is NY far?"),
        marked("I have [gout|health|high].", "What is goutlike?"),
        marked("I am [with child|health|high].", "Who goes with me?"),
        marked("I am [Ann|name|low].", None),
    ]
    leaks = measure_question_leaks(records)
    assert (leaks.questions, leaks.holding_value, leaks.sharing_word) == (6, 1, 1)
    assert leaks.holding_value_share == pytest.approx(1 / 6)
    assert measure_question_leaks(records[-1:]).sharing_word_share is None


def test_split_leaks_and_splits():
    train = [
        marked("I met [Ann|name|low], a [baker|occupation|high] by the sea.", "Do bakers pay a fee at night by law?"),
        marked("We saw [gout|health|low] and then a [pilot|occupation|high] again.", "May I fly?"),
    ]
    test = [marked("You said [ann|name|low] and [Leeds|location|high] were fine.", "Do bakers pay a fee at night by night?")]
    leaks = measure_split_leaks(train, test, taxonomy=shipped_taxonomy())
    assert (leaks.values_share, leaks.contexts_share, leaks.questions_share) == (0.5, 0, 1)
    figures = measure({"train": train, "test": test}, taxonomy=shipped_taxonomy())
    assert figures.split_leaks == leaks
    assert [(split.split, split.counts.records) for split in figures.splits] == [("train", 2), ("test", 1)]
    assert measure({"train": train}, taxonomy=shipped_taxonomy()).split_leaks is None


def test_the_plan_is_counted():
    plans = [None, RecordPlan(pair=("health", "age"), topic="t", subtopic="s"), RecordPlan(pair=("age", "health"), topic="t", subtopic="u")]
    plan = measure_plan([marked(f"text {n}", plan=each) for n, each in enumerate(plans)], taxonomy=shipped_taxonomy())
    assert (plan.planned, plan.pairs, plan.topics, plan.subtopics) == (2, {"age+health": 2}, 1, 2)
    assert (plan.locales, plan.registers, plan.pairs_possible) == ({"en_US": 3}, {}, 78)


def test_variety():
    plan = replace(PLAN, lookalikes=("price", "hotline"))
    records = [
        marked("My [mother|relationship|low] has lived in [Ulm|location|low] for all of her life. Bye for now.", "May she move?"),
        marked("My [aunt|relationship|low] has lived in [Rome|location|low] for all of her life! And so on it goes every day.", plan=plan),
        marked("Write to [a@b.org|code|high], or ring the desk, or wait until the end of it.", plan=replace(PLAN, scenario="s2")),
        marked("Nothing.", plan=None),
    ]
    found = measure_variety(records)
    assert (found.texts, found.sharing_share, found.shared_sentences_share) == (4, 0.5, pytest.approx(2 / 4))
    assert (found.stories, found.records_per_story, found.most_of_story) == (2, 1.5, 2)
    assert (found.questions, found.records_per_question) == (2, 2.0)
    assert (found.direct_share, found.identifiers, found.common_kinds) == (0.25, {"code": 1}, 1)
    assert (found.lookalike_share, found.lookalikes) == (0.25, {"hotline": 1, "price": 1})
    spans = [("health", "vn_health_insurance"), ("datetime", "date"), ("location", "address"), ("name", "first_name"), ("code", None)]
    direct = [is_direct(Span(id="s", start=0, end=1, entity_type=kind, subtype=subtype)) for kind, subtype in spans]
    assert direct == [True, False, True, False, True]


def test_the_json_is_json_and_does_not_depend_on_the_order_of_records():
    records = varied()
    first = measure({"all": records}, taxonomy=shipped_taxonomy()).to_json()
    assert first["schema"] == 1
    assert json.loads(json.dumps(first, allow_nan=False)) == first
    assert measure({"all": records[::-1]}, taxonomy=shipped_taxonomy()).to_json() == first


def test_records_without_spans_and_questions_are_measured():
    figures = measure({"all": [marked("only words", None)]}, taxonomy=shipped_taxonomy())
    assert (figures.questions, figures.types, figures.guessability.spans) == (None, (), 0)
