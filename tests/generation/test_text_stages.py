"""The stages that make a text, each with a scripted provider: what their validators take and refuse."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpus.marks import strip_marks
from generation import paraphrase, peripheral, question, situation, spans, values
from generation.item import Question
from tests.generation.scripted_provider import (
    ASIDE,
    SITUATION,
    VALUES,
    a_told_item,
    an_item,
    by_template,
    fault_codes,
    in_turn,
    rejected,
    run_stage,
    surfaces,
    text,
)

# Situation


def test_a_situation_is_kept_with_its_mentions():
    item, made = run_stage(situation.STAGE, an_item(), in_turn(text(SITUATION)))
    assert item.situation == strip_marks(SITUATION)
    assert item.refused == 0
    call = made.provider.calls[0]
    assert call.item_id == "4"
    # Values that do not matter are none of its business.
    assert [value["id"] for value in call.variables["values"]] == ["v1", "v2"]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (SITUATION.replace("[[v1|asthma]]", "wheezing"), "value_missing"),
        ("As a [[v2|tunnel miner]] with [[v1|asthma]], I coughed.", "wrong_length"),
        (f"{SITUATION[:-1]} {'while it rained and rained ' * 4}.", "wrong_length"),
        (SITUATION.replace(", I", ". I"), "several_sentences"),
        ("A [[v2|tunnel miner]] with [[v1|asthma]] coughed through a whole week of drilling dust.", "not_first_person"),
        (SITUATION.replace("[[v1|asthma]]", "[[v1|asthma"), "broken_mark"),
    ],
)
def test_a_situation_is_refused_with_its_fault_and_asked_for_again(reply, code):
    item, made = run_stage(situation.STAGE, an_item(), in_turn(text(reply), text(SITUATION)))
    assert item.situation == strip_marks(SITUATION)
    assert item.refused == 1
    assert made.faults[0] is None
    assert made.faults[1]
    assert fault_codes(made) == [code]
    assert rejected(situation.STAGE, an_item(), in_turn(text(reply))).code == code


# Peripheral


def test_each_group_of_values_gets_an_aside_of_its_own():
    several = replace(VALUES[2], id="v4", entity_type="finance", subtype="income", text="$52,400")
    item = an_item((*VALUES, several), asides=(("v3",), ("v4",)))
    second = "Whatever anyone says, I still think [[v4|$52,400]] is a lot of money for one old boat."
    item, made = run_stage(peripheral.STAGE, item, in_turn(text(ASIDE), text(second)))
    assert item.peripheral == (strip_marks(ASIDE), strip_marks(second))
    assert [call.item_id for call in made.provider.calls] == ["4/0", "4/1"]


def test_the_refused_replies_of_all_asides_are_counted():
    item = an_item(asides=(("v3",), ("v3",)))
    item, made = run_stage(peripheral.STAGE, item, in_turn(text("Too short."), text(ASIDE), text("My [[v3|Dayton]]."), text(ASIDE)))
    assert item.refused == 2
    assert len(made.provider.calls) == 4


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (ASIDE.replace("[[v3|Dayton]]", "Boston"), "value_missing"),
        ("My cousins live in [[v3|Dayton]].", "wrong_length"),
        (ASIDE.replace("My", "Those").replace("mailing me", "mailing out"), "not_first_person"),
        (ASIDE.replace(" mailing", ". They are mailing"), "several_sentences"),
    ],
)
def test_a_bad_aside_rejects_the_item_in_the_end(reply, code):
    error = rejected(peripheral.STAGE, an_item(), in_turn(text(reply)))
    assert (error.code, error.attempts) == (code, 3)


def test_no_low_values_no_asides():
    item, made = run_stage(peripheral.STAGE, an_item(VALUES[:2], asides=()), in_turn(text("never asked")))
    assert item.peripheral == ()
    assert made.provider.calls == []


# Question

DRAFT = {"question": "Can a tunnel miner with asthma go on working?"}
PERSONAL = {"question": "Can I go on working with what I have?"}
ABSTRACTED = {"question": "Which forms should I ask for  before going back\nunderground?"}


def asking(**changes):
    return by_template(**{"question_draft": DRAFT, "question_personal": PERSONAL, "question_abstracted": ABSTRACTED, **changes})


def test_a_question_is_asked_in_three_steps():
    item, made = run_stage(question.STAGE, a_told_item(), asking())
    assert item.question == Question(
        draft=DRAFT["question"],
        personal=PERSONAL["question"],
        abstracted="Which forms should I ask for before going back underground?",
    )
    assert [call.schema_name for call in made.provider.calls] == ["question_draft", "question_personal", "question_abstracted"]
    assert made.provider.calls[1].variables["draft"] == DRAFT["question"]
    assert made.provider.calls[2].variables["personal"] == PERSONAL["question"]


@pytest.mark.parametrize(
    ("leak", "code"),
    [
        ("What should I do about asthma underground?", "question.value"),
        ("Should I go and see DAYTON first?", "question.value"),
        ("Do miners get a second chance anywhere?", "question.content_word"),
        ("Would the tunnels be safe for me?", "question.content_word"),
        ("Is this good for my health at all?", "question.type_word"),
        ("Should I look for another occupation now?", "question.type_word"),
    ],
)
def test_an_abstracted_question_that_gives_something_away_is_refused(leak, code):
    item, made = run_stage(question.STAGE, a_told_item(), asking(question_abstracted=[{"question": leak}, ABSTRACTED]))
    assert item.refused == 1
    assert fault_codes(made) == [code]
    assert "asthma" not in (made.faults[-1] or "")
    assert rejected(question.STAGE, a_told_item(), asking(question_abstracted={"question": leak})).code == code


@pytest.mark.parametrize("step", ["question_draft", "question_personal", "question_abstracted"])
@pytest.mark.parametrize(
    ("reply", "code"), [("I would like to know what to do now.", "not_a_question"), ("And now?", "wrong_length"), ("", "not_a_question")]
)
def test_every_step_must_give_a_question_of_some_length(step, reply, code):
    assert rejected(question.STAGE, a_told_item(), asking(**{step: {"question": reply}})).code == code


def test_the_personal_question_is_in_the_first_person():
    reply = {"question": "Can people go on working like this?"}
    assert rejected(question.STAGE, a_told_item(), asking(question_personal=reply)).code == "not_first_person"


# Values


def test_values_are_drawn_by_code_without_asking():
    item, made = run_stage(values.STAGE, replace(an_item(), values=()), in_turn({"value": "unused"}))
    assert made.provider.calls == []
    assert [(value.id, value.entity_type, value.subtype, value.relevance) for value in item.values] == [
        ("v1", "health", "condition", "high"),
        ("v2", "occupation", "job_title", "high"),
        ("v3", "location", "city", "low"),
    ]
    assert item == run_stage(values.STAGE, an_item(), in_turn({}))[0]


def test_values_may_be_asked_for_one_by_one():
    replies = in_turn({"value": "asthma"}, {"value": "tunnel  miner"}, {"value": "Dayton"})
    item, made = run_stage(values.STAGE, an_item(()), replies, values="llm")
    assert item.values == VALUES
    assert [call.variables["avoid"] for call in made.provider.calls] == [[], ["asthma"], ["asthma", "tunnel miner"]]
    assert [call.item_id for call in made.provider.calls] == ["4/v1", "4/v2", "4/v3"]
    # What matters is drawn for the thread; what does not, without looking at it.
    assert [call.variables["topic"] for call in made.provider.calls] == ["shift work", "shift work", None]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("[[v2|miner]]", "unfit_value"),
        ('the "mole"', "unfit_value"),
        ("", "unfit_value"),
        ("one two three four five six seven eight nine", "unfit_value"),
        ("asthma", "repeated_value"),
        ("Asthma nurse", "repeated_value"),
    ],
)
def test_an_unfit_value_is_asked_for_again(reply, code):
    replies = in_turn({"value": "asthma"}, {"value": reply}, {"value": "tunnel miner"}, {"value": "Dayton"})
    item, made = run_stage(values.STAGE, an_item(()), replies, values="llm")
    assert item.values == VALUES
    assert item.refused == 1
    assert fault_codes(made) == [code]


# Order


@pytest.mark.parametrize("stage", [question.STAGE, paraphrase.STAGE, spans.STAGE], ids=lambda stage: stage.name)
def test_a_stage_without_its_input_rejects(stage):
    assert rejected(stage, an_item(), in_turn({})).code == "out_of_order"


def test_mentions_of_a_situation_are_whole_values():
    item, _ = run_stage(situation.STAGE, an_item(), in_turn(text(SITUATION)))
    assert surfaces(item.situation) == [("v2", "tunnel miner"), ("v1", "asthma")]
