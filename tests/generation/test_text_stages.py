"""The stages that make a text, each with a scripted provider: what their validators take and refuse."""

from __future__ import annotations

from dataclasses import replace

import pytest

from piiloom.corpus.alignment import strip_marks
from piiloom.generation.item import Aside, Question
from piiloom.generation.stages import paraphrase, peripheral, question, situation, spans
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
from tests.longer import case_by_case


def prompt_of(stage, item, reply):
    """What *stage* says to the model about *item* when the first reply is good."""
    _, made = run_stage(stage, item, in_turn(text(reply)))
    return made.provider.calls[0].render()[-1].content


# Situation


def test_a_situation_is_kept_with_its_mentions():
    item, made = run_stage(situation.STAGE, an_item(), in_turn(text(SITUATION)))
    assert item.situation == strip_marks(SITUATION)
    assert item.refused == 0
    call = made.provider.calls[0]
    assert call.item_id == "4"
    # Values that do not matter are none of its business, but for what it must not say by chance.
    assert [value["id"] for value in call.variables["values"]] == ["v1", "v2"]
    assert call.variables["others"] == ["Dayton"]
    assert call.variables["sentences"] == 2


def test_a_situation_may_take_several_sentences_and_speak_of_others():
    told = "They say a [[v2|tunnel miner]] with [[v1|asthma]] coughs. The dust under the river is to blame for it."
    assert run_stage(situation.STAGE, an_item(), in_turn(text(told)))[0].situation == strip_marks(told)


def test_a_text_without_pii_has_a_situation_without_values():
    plain = "My van broke down on the ring road and the garage will not say what it would cost me."
    item, made = run_stage(situation.STAGE, an_item((), wanted=(), asides=(), lead=None), in_turn(text(plain)))
    assert item.situation == strip_marks(plain)
    (message,) = [m.content for m in made.provider.calls[0].render() if m.role == "user"]
    assert "Disclose nothing personal at all" in message


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (SITUATION.replace("[[v1|asthma]]", "wheezing"), "value_missing"),
        ("As a [[v2|tunnel miner]] with [[v1|asthma]], I coughed.", "wrong_length"),
        (f"{SITUATION[:-1]} {'while it rained and rained ' * 4}.", "wrong_length"),
        (SITUATION.replace(", I", ". I").replace(" of drilling", ". Drilling"), "too_many_sentences"),
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
    item = an_item((*VALUES, several), asides=(Aside(values=("v3",), frame=7), Aside(values=("v4",))))
    second = "Whatever anyone says, I still think [[v4|$52,400]] is a lot of money for one old boat."
    item, made = run_stage(peripheral.STAGE, item, in_turn(text(ASIDE), text(second)))
    assert item.peripheral == (strip_marks(ASIDE), strip_marks(second))
    assert [call.item_id for call in made.provider.calls] == ["4/0", "4/1"]
    assert [call.variables["frame"] for call in made.provider.calls] == [7, None]
    assert made.provider.calls[1].variables["others"] == ["asthma", "tunnel miner", "Dayton"]


def test_an_opening_is_asked_for_as_such():
    asked_for = replace(VALUES[2], entity_type="relationship", subtype="asked_for", text="cousin")
    item = an_item((*VALUES[:2], asked_for), asides=(Aside(values=("v3",), opening=True),))
    opening = "I am writing this for my [[v3|cousin]], who has no account and hates typing."
    item, made = run_stage(peripheral.STAGE, item, in_turn(text(opening)))
    assert item.peripheral == (strip_marks(opening),)
    (call,) = made.provider.calls
    assert call.variables["opening"] is True
    assert "on behalf of somebody" in call.render()[-1].content
    assert "on behalf of somebody" not in prompt_of(peripheral.STAGE, an_item(), ASIDE)


def test_the_refused_replies_of_all_asides_are_counted():
    item = an_item(asides=(Aside(values=("v3",)), Aside(values=("v3",))))
    item, made = run_stage(peripheral.STAGE, item, in_turn(text("Too short."), text(ASIDE), text("My [[v3|Dayton]]."), text(ASIDE)))
    assert item.refused == 2
    assert len(made.provider.calls) == 4


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (ASIDE.replace("[[v3|Dayton]]", "Boston"), "value_missing"),
        ("My cousins live in [[v3|Dayton]].", "wrong_length"),
        (ASIDE.replace(" mailing", ". They are mailing"), "too_many_sentences"),
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
    ("cue_level", "told"),
    [
        ("neutral", "not let on either which kinds of fact matter"),
        ("implied", "may use the words of its theme"),
        ("personal", "Keep it in the first person"),
    ],
)
def test_the_last_step_is_told_how_much_it_may_give_away(cue_level, told):
    _, made = run_stage(question.STAGE, a_told_item(cue_level=cue_level), asking())
    prompts = [call.render()[-1].content for call in made.provider.calls]
    assert [told in prompt for prompt in prompts] == [False, False, True]


def test_a_question_about_no_value_is_asked_too():
    item = replace(a_told_item(wanted=(), asides=(), lead=None), values=(), peripheral=())
    item, made = run_stage(question.STAGE, item, asking())
    assert item.question.abstracted.startswith("Which forms")
    assert "learns none" not in made.provider.calls[2].render()[-1].content


@case_by_case(
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


@case_by_case("step", ["question_draft", "question_personal", "question_abstracted"])
@case_by_case(
    ("reply", "code"),
    [
        ("I would like to know what to do now.", "not_a_question"),
        ("Should I ask for other hours? Or should I leave?", "not_a_question"),
        ("And now?", "wrong_length"),
        ("", "not_a_question"),
    ],
)
def test_every_step_must_give_a_question_of_some_length(step, reply, code):
    assert rejected(question.STAGE, a_told_item(), asking(**{step: {"question": reply}})).code == code


def test_a_quoted_question_belongs_to_the_one_around_it():
    reply = {"question": 'What do I answer to "why now?" at that point?'}
    assert run_stage(question.STAGE, a_told_item(), asking(question_draft=reply))[0].refused == 0


def test_the_personal_question_is_in_the_first_person():
    reply = {"question": "Can people go on working like this?"}
    assert rejected(question.STAGE, a_told_item(), asking(question_personal=reply)).code == "not_first_person"


# Order


@pytest.mark.parametrize("stage", [question.STAGE, paraphrase.STAGE, spans.STAGE], ids=lambda stage: stage.name)
def test_a_stage_without_its_input_rejects(stage):
    assert rejected(stage, an_item(), in_turn({})).code == "out_of_order"


def test_mentions_of_a_situation_are_whole_values():
    item, _ = run_stage(situation.STAGE, an_item(), in_turn(text(SITUATION)))
    assert surfaces(item.situation) == [("v2", "tunnel miner"), ("v1", "asthma")]
