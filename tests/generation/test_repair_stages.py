"""From a paraphrase with slips to exact spans: what is asked for again, what repair mends, what rejects the item."""

from __future__ import annotations

from dataclasses import replace

import pytest

from piiloom.corpus.alignment import MarkedText, strip_marks
from piiloom.generation.item import Aside
from piiloom.generation.stage import ItemRejected
from piiloom.generation.stages import paraphrase, spans
from tests.generation.scripted_provider import (
    ASIDE,
    POST,
    SITUATION,
    VALUES,
    a_told_item,
    bench,
    fault_codes,
    in_turn,
    rejected,
    run_stage,
    text,
    with_passage,
)

# Paraphrase


def test_a_post_that_keeps_every_value_and_leads_as_planned_is_taken():
    item, made = run_stage(paraphrase.STAGE, a_told_item(), in_turn(text(POST)))
    assert item.passage == strip_marks(POST)
    variables = made.provider.calls[0].variables
    assert sorted(variables["sentences"]) == sorted([SITUATION, ASIDE])
    assert variables["first"]["id"] in {"v1", "v2"}


def test_the_first_mention_has_the_planned_relevance():
    late = f"{ASIDE} {SITUATION}"
    item, _ = run_stage(paraphrase.STAGE, a_told_item(), in_turn(text(late), text(POST)))
    assert item.refused == 1
    item, made = run_stage(paraphrase.STAGE, a_told_item(lead="low"), in_turn(text(POST), text(late)))
    assert item.passage == strip_marks(late)
    assert made.provider.calls[0].variables["first"] == {"id": "v3", "text": "Dayton"}
    assert "[[v3|Dayton]]" in (made.faults[1] or "")


def test_which_value_comes_first_is_a_wish_and_asked_for_once():
    other = POST.replace("rattling", "creaking")
    item, made = run_stage(paraphrase.STAGE, a_told_item(lead="low"), in_turn(text(POST), text(other)), max_attempts=5)
    assert (item.passage, item.refused, len(made.provider.calls)) == (strip_marks(other), 1, 2)


def test_an_opening_comes_first_and_an_ending_is_told():
    asides = (Aside(values=("v3",), opening=True), Aside(values=("v4",), closing=True))
    signed = replace(VALUES[2], id="v4", entity_type="name", subtype="first_name", text="Ines")
    item = replace(a_told_item(lead="low", asides=asides), values=(*VALUES, signed))
    late = f"{POST} Thanks, [[v4|Ines]]"
    first = f"{ASIDE} {SITUATION} Thanks, [[v4|Ines]]"
    item, made = run_stage(paraphrase.STAGE, item, in_turn(text(late), text(first)))
    assert item.passage == strip_marks(first)
    assert fault_codes(made) == ["wrong_lead"]
    variables = made.provider.calls[0].variables
    # Of two values of low relevance, the one of the opening.
    assert (variables["first"], variables["ends"]) == ({"id": "v3", "text": "Dayton"}, ["v4"])


def test_a_post_without_values_has_no_first_one():
    plain = "My van broke down on the ring road again, and nobody at the garage will say what comes next."
    empty = replace(a_told_item(wanted=(), asides=(), lead=None), values=(), situation=strip_marks(plain), peripheral=())
    item, made = run_stage(paraphrase.STAGE, empty, in_turn(text(plain)))
    assert item.passage == strip_marks(plain)
    (call,) = made.provider.calls
    assert (call.variables["first"], call.variables["lead"]) == (None, None)
    assert "be the first one" not in call.render()[-1].content


def test_the_wanted_length_is_told():
    _, made = run_stage(paraphrase.STAGE, a_told_item(register="chat message"), in_turn(text(POST)))
    prompt = made.provider.calls[0].render()[-1].content
    assert "12 to 60 words (best near 40)" in prompt
    assert "chat message" in prompt


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (POST.replace("[[v3|Dayton]]", "Boston"), "value_missing"),
        (POST.replace("[[v2|tunnel miner]]", "[[v2|tunneller]]"), "value_changed"),
        (SITUATION, "value_missing"),
        ("I cough. [[v2|tunnel miner]] [[v1|asthma]] [[v3|Dayton]]", "wrong_length"),
    ],
)
def test_a_faulty_post_is_asked_for_again(reply, code):
    item, made = run_stage(paraphrase.STAGE, a_told_item(), in_turn(text(reply), text(POST)))
    assert item.passage == strip_marks(POST)
    assert fault_codes(made) == [code]


def test_in_the_last_attempt_values_are_left_to_repair_but_not_the_length():
    altered = POST.replace("[[v1|asthma]]", "astma")
    item, made = run_stage(paraphrase.STAGE, a_told_item(), in_turn(text(altered)))
    assert len(made.provider.calls) == 3
    assert item.passage == strip_marks(altered)
    assert item.refused == 2
    assert rejected(paraphrase.STAGE, a_told_item(), in_turn(text("I cough."))).code == "wrong_length"


# Spans


def spans_of(item):
    passage = item.passage or MarkedText(text="")
    return [(span.value_id, span.text_in(passage.text)) for span in item.spans]


def test_marks_become_spans_without_asking():
    item, made = run_stage(spans.STAGE, with_passage(a_told_item(), POST), in_turn({"span": None}))
    assert made.provider.calls == []
    assert spans_of(item) == [("v2", "tunnel miner"), ("v1", "asthma"), ("v3", "Dayton")]
    assert [(span.id, span.entity_type, span.relevance, span.subtype, span.subject) for span in item.spans] == [
        ("s1", "occupation", "high", "job_title", "self"),
        ("s2", "health", "high", "condition", "self"),
        ("s3", "location", "low", "city", "self"),
    ]


@pytest.mark.parametrize(
    ("written", "surface"), [("asthma", "asthma"), ("ASTHMA", "ASTHMA"), ("astma", "astma")], ids=["exact", "normalised", "fuzzy"]
)
def test_a_lost_mark_is_repaired_without_asking(written, surface):
    passage = POST.replace("[[v1|asthma]]", written)
    item, made = run_stage(spans.STAGE, with_passage(a_told_item(), passage), in_turn({"span": None}))
    assert made.provider.calls == []
    assert ("v1", surface) in spans_of(item)


REWORDED = POST.replace("[[v1|asthma]]", "lungs that never fill")


def test_other_words_for_a_value_are_asked_for():
    item, made = run_stage(spans.STAGE, with_passage(a_told_item(), REWORDED), in_turn({"span": "lungs that never fill"}))
    assert ("v1", "lungs that never fill") in spans_of(item)
    (call,) = made.provider.calls
    assert call.item_id == "4/v1"
    assert call.variables["value"]["text"] == "asthma"


@pytest.mark.parametrize(
    ("reply", "code"),
    [("lungs that never filled", "not_in_text"), ("ungs that never fill", "not_in_text"), ("that", "not_a_value")],
)
def test_an_answer_counts_only_when_its_words_stand_there(reply, code):
    right = {"span": "lungs that never fill"}
    item, made = run_stage(spans.STAGE, with_passage(a_told_item(), REWORDED), in_turn({"span": reply}, right))
    assert item.refused == 1
    assert fault_codes(made) == [code]
    assert rejected(spans.STAGE, with_passage(a_told_item(), REWORDED), in_turn({"span": reply})).code == code


def test_a_whole_sentence_is_no_value():
    whole = strip_marks(SITUATION).text[:-1]
    assert rejected(spans.STAGE, with_passage(a_told_item(), REWORDED), in_turn({"span": whole})).code in {"not_a_value", "not_in_text"}


def test_a_value_that_the_model_cannot_find_rejects_the_item():
    error = rejected(spans.STAGE, with_passage(a_told_item(), REWORDED), in_turn({"span": None}))
    assert error.code == "value_missing"
    assert "asthma" not in error.detail


def test_the_span_of_another_value_is_not_this_one():
    error = rejected(spans.STAGE, with_passage(a_told_item(), REWORDED), in_turn({"span": "tunnel miner"}))
    assert error.code == "value_overlap"


def test_a_value_within_a_longer_word_is_no_match():
    passage = POST.replace("[[v1|asthma]]", "asthmatic lungs")
    assert rejected(spans.STAGE, with_passage(a_told_item(), passage), in_turn({"span": "asthma"})).code == "not_in_text"
    item, _ = run_stage(spans.STAGE, with_passage(a_told_item(), passage), in_turn({"span": "asthmatic lungs"}))
    assert ("v1", "asthmatic lungs") in spans_of(item)


@pytest.mark.parametrize("damage", ["[[v1|asthma", "[[asthma]]", "[[ v1 | asthma ]]", "asthma]]"])
def test_a_damaged_mark_rejects_without_asking(damage):
    item = with_passage(a_told_item(), POST.replace("[[v1|asthma]]", damage))
    with bench(in_turn({"span": "asthma"})) as made, pytest.raises(ItemRejected) as caught:
        made.do(spans.STAGE.run(item, made.ctx))
    assert caught.value.code == "broken_mark"
    assert made.provider.calls == []


def test_an_unmarked_repeat_is_a_span_too():
    item, _ = run_stage(spans.STAGE, with_passage(a_told_item(), f"{POST} Asthma, in Dayton!"), in_turn({"span": None}))
    assert spans_of(item)[-2:] == [("v1", "Asthma"), ("v3", "Dayton")]
    assert [span.id for span in item.spans] == [f"s{number}" for number in range(1, 6)]
