"""The stage that gives an item its values: drawn by code, or asked for one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from piiloom.corpus.alignment import strip_marks
from piiloom.generation.item import Aside, WantedValue
from piiloom.generation.stage import Fault
from piiloom.generation.stages import peripheral, values
from tests.generation.scripted_provider import ASIDE, PLAN, SITUATION, VALUES, an_item, by_template, fault_codes, in_turn, run_stage, text
from tests.longer import case_by_case


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
    item, made = run_stage(values.STAGE, an_item(()), replies, values="llm", recipe="case")
    assert item.values == VALUES
    assert [call.variables["avoid"] for call in made.provider.calls] == [[], ["asthma"], ["asthma", "tunnel miner"]]
    assert [call.item_id for call in made.provider.calls] == ["4/v1", "4/v2", "4/v3"]
    # What matters is drawn for the thread; what does not, without looking at it.
    assert [call.variables["topic"] for call in made.provider.calls] == ["shift work", "shift work", None]


def test_values_of_the_recipe_staged_are_asked_for_given_the_text_so_far():
    wanted = (*PLAN.wanted, WantedValue(id="v4", entity_type="age", relevance="low", subtypes=("years",)))
    plan = {"wanted": wanted, "asides": (Aside(values=("v3",)), Aside(values=("v4",)))}
    item, made = run_stage(values.STAGE, an_item((), **plan), in_turn({"value": "asthma"}, {"value": "tunnel miner"}), values="llm")
    assert item.values == VALUES[:2]
    # No text is there yet: the values of the situation are asked for given topic and subtopic.
    assert [(call.schema_name, call.variables["topic"]) for call in made.provider.calls] == [("pii_value", "shift work")] * 2
    told = replace(item, situation=strip_marks(SITUATION))
    second = "Since [[v4|41]] I have kept a shelf of dented copper kettles for no reason."
    replies = by_template(
        value_in_text=[{"value": "drilling dust"}, {"value": "Dayton"}, {"value": "41"}], peripheral=[text(ASIDE), text(second)]
    )
    item, made = run_stage(peripheral.STAGE, told, replies, values="llm")
    assert [value.text for value in item.values] == ["asthma", "tunnel miner", "Dayton", "41"]
    assert [aside.text for aside in item.peripheral] == [strip_marks(ASIDE).text, strip_marks(second).text]
    # A value that the text holds already would be an unmarked mention there.
    assert (item.refused, fault_codes(made)) == (1, ["repeated_value"])
    before = strip_marks(SITUATION).text
    asked = [call for call in made.provider.calls if call.schema_name == "value_in_text"]
    assert [call.variables["text"] for call in asked] == [before, before, f"{before}\n{strip_marks(ASIDE).text}"]
    assert asked[-1].variables["avoid"] == ["asthma", "tunnel miner", "Dayton"]
    assert all(call.variables["text"] in call.render()[-1].content for call in asked)


SISTER = (
    WantedValue(id="v1", entity_type="health", relevance="high", subtypes=("condition",), subject="@v2"),
    WantedValue(id="v2", entity_type="relationship", relevance="low", subtypes=("kin",)),
)


@pytest.mark.parametrize("who", ["code", "llm"])
def test_a_fact_of_somebody_named_in_the_text_is_of_the_word_for_them(who):
    replies = by_template(pii_value=[{"value": "sister"}, {"value": "asthma"}])
    item, made = run_stage(values.STAGE, an_item((), wanted=SISTER, asides=()), replies, values=who)
    condition, relative = item.values
    assert (condition.id, relative.id, relative.subject) == ("v1", "v2", "self")
    assert condition.subject == relative.text
    # The person is asked for first, so that what is told of them can fit.
    assert [call.variables["subject"] for call in made.provider.calls] == ([] if who == "code" else ["self", "sister"])


@pytest.mark.parametrize("draws", [None, 3])
def test_the_number_of_draws_can_be_limited(draws):
    items = [an_item((), seed=seed) for seed in range(12)]
    found = {run_stage(values.STAGE, item, in_turn({}), composer={"value_draws": draws})[0].values for item in items}
    assert len(found) == (draws or 12)


def test_without_personas_each_value_is_of_somebody():
    found, _ = run_stage(values.STAGE, an_item((), wanted=SISTER, asides=()), in_turn({}), composer={"personas": False})
    assert [value.subject for value in found.values] == ["self", "self"]


@case_by_case(
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
    item, made = run_stage(values.STAGE, an_item(()), replies, values="llm", recipe="case")
    assert item.values == VALUES
    assert item.refused == 1
    assert fault_codes(made) == [code]


@case_by_case(
    ("value", "other", "fits"),
    [
        ("45,000 euros", "$45,000", (True, True)),
        ("12,000 kronor", "9,000 dollars", (True, True)),
        ("room 45", "at 45", (True, True)),
        ("45", "at 45", (False, False)),
        ("na praia", "na escola", (True, True)),
        ("my gym", "the gym on Dock Street", (False, True)),
        ("auf Dienstreise", "auf Krücken", (False, True)),
        ("61 Jahre alt", "seit 3 Jahren alt genug", (False, True)),
        ("Dienstreise", "auf Dienstreise", (False, False)),
        ("meine Dienstreise", "lange Dienstreise", (False, False)),
    ],
)
def test_two_values_may_share_numbers_and_small_words(value, other, fits):
    """*fits*: with the function words of the language known, and without."""
    for inflects, may in zip((False, True), fits, strict=True):
        if may:
            assert values.fit_value(value, [other], inflects=inflects) == value
        else:
            with pytest.raises(Fault, match="taken"):
                values.fit_value(value, [other], inflects=inflects)
