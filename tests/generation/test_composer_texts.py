"""The composer's sentences: situations, asides, questions."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.corpus.alignment import strip_marks
from piiloom.foundation.words import count_words
from piiloom.generation.composer.scenario_texts import (
    compose_aside,
    compose_draft,
    compose_question,
    compose_situation,
    dressed,
    qualified,
    says_any,
)
from piiloom.providers.errors import InvalidRequest
from piiloom.screening.gates import content_stems
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.scenarios import Frame
from tests.generation.composer_bits import PLAIN_TALK, SCENARIO, TALK, VALUES, fits, length, marks, rngs, value

BANK = load_bank(language="en", extra=None, taxonomy=shipped_taxonomy())
told = st.sets(st.sampled_from(["v1", "v2", "v3"])).map(sorted)

# Situations


def situation(ids, rng, *, talk=PLAIN_TALK, band=(1, 500), others=(), scenario=SCENARIO):
    return compose_situation(scenario, talk, [VALUES[v] for v in ids], band, others, rng)


def disclosing(text):
    return [line for line in text.split("\n") if "[[" in line]


@given(told, rngs, st.integers(5, 60), st.integers(20, 60))
@settings(deadline=None)
def test_a_situation_marks_each_value_once_within_its_band(ids, rng, low, room):
    text = situation(ids, rng, band=(low, low + room))
    assert sorted(v for v, _ in marks(text)) == ids
    assert [strip_marks(line).text[0].isupper() for line in text.split("\n")] == [True] * len(text.split("\n"))
    facts = sum(map(length, disclosing(text)))
    everything = facts + sum(count_words(re.split(r"[<|>]", stake)[0]) for stake in SCENARIO.stakes)
    # As long as it must be, unless that is more than there is to say; never longer than it may be because of its stakes.
    assert length(text) >= min(low, everything)
    assert length(text) <= max(low + room, facts)


@given(told, rngs)
@settings(deadline=None)
def test_a_situation_is_made_of_its_scenario(ids, rng):
    text = situation(ids, rng, band=(40, 90))
    tells = [pattern for patterns in (*SCENARIO.tells.values(), SCENARIO.also["finance"].tells) for pattern in patterns]
    for line in text.split("\n"):
        assert any(fits(line, pattern) for pattern in (tells if "[[" in line else SCENARIO.stakes)), line
    stakes = [pattern for line in text.split("\n") for pattern in SCENARIO.stakes if fits(line, pattern)]
    assert len(set(stakes)) == len(stakes)


@given(rngs)
@settings(deadline=None)
def test_without_values_a_situation_discloses_nothing(rng):
    lines = situation([], rng, band=(20, 60)).split("\n")
    assert all(any(fits(line, stake) for stake in SCENARIO.stakes) for line in lines)
    assert len(lines) >= 2


def test_a_pair_is_told_in_one_sentence_or_in_two():
    numbers = [len(disclosing(situation(["v1", "v2"], random.Random(seed)))) for seed in range(200)]
    assert {numbers.count(1) > 60, numbers.count(2) > 60} == {True}
    assert {len(disclosing(situation(["v1", "v2", "v3"], random.Random(seed)))) for seed in range(50)} == {2, 3}


def test_facts_come_first_often_but_not_always():
    firsts = ["[[" in situation(["v1", "v2"], random.Random(seed), band=(40, 80)).split("\n")[0] for seed in range(300)]
    assert 0.5 < sum(firsts) / 300 < 0.9


@given(rngs)
@settings(deadline=None)
def test_a_situation_says_no_other_value_by_chance(rng):
    text = strip_marks(situation(["v1"], rng, band=(30, 90), others=("rota", "boss", "laughs", "twice"))).text
    assert not says_any(text.casefold(), ("rota", "boss", "laughs", "twice"))


# Asides


def frame(text, *slots, index=0, last=False):
    return Frame(text=text, slots=slots, subjects=MappingProxyType({}), last=last, index=index, origin="mine.yaml")


CITY = frame("<Back|Now> in {location.city} I <bake|sing>.", ("location", "city"))
TWO = frame("{A:occupation.job_title} from {location.city} once <sold|gave> me a boat.", ("occupation", "job_title"), ("location", "city"))
SIGNED = frame("{name.first_name} here.", ("name", "first_name"))
NUMBERED = frame("{code.case_number} is my number.", ("code", "case_number"))
ILL = frame("I live with {health.condition}.", ("health", "condition"))
FRAMES = (CITY, TWO, SIGNED, NUMBERED, ILL)
MINE = replace(BANK, frames=tuple(replace(found, index=place) for place, found in enumerate(FRAMES)), talk=TALK)


def aside(number, ids, rng=None, others=(), **changed):
    values = [value(v, **changed) for v in ids]
    return compose_aside(MINE, values, number, others, rng or random.Random(1))


@given(rngs, st.sampled_from([(0, ["v4"]), (1, ["v2", "v4"]), (1, ["v4", "v2"])]))
@settings(deadline=None)
def test_an_aside_is_its_frame_with_every_value_once(rng, chosen):
    number, ids = chosen
    text = aside(number, ids, rng)
    assert fits(text, FRAMES[number].text)
    assert sorted(v for v, _ in marks(text)) == sorted(ids)
    assert number == 0 or text.startswith("An [[v2|air traffic controller]]")


def test_an_aside_begins_with_a_capital_unless_with_what_is_copied():
    assert aside(4, ["v1"]).startswith("I live")
    assert aside(3, ["v5"], text="clm-48q") == "[[v5|clm-48q]] is my number."
    assert aside(2, ["v7"], text="ines") == "[[v7|ines]] here."
    capital = replace(MINE, frames=(frame("{location.city} is home.", ("location", "city")),))
    assert compose_aside(capital, [value("v4", text="dayton")], 0, (), random.Random(1)) == "[[v4|Dayton]] is home."


@given(rngs)
@settings(deadline=None)
def test_without_a_frame_it_says_for_whom_the_text_is_posted(rng):
    text = aside(None, ["v6"], rng)
    assert any(fits(text, pattern) for pattern in TALK.second_hand)
    assert marks(text) == [("v6", "sister")]


@pytest.mark.parametrize("number", [0, 2, 99, -1, None])
def test_values_that_a_frame_does_not_take_are_an_invalid_request(number):
    with pytest.raises(InvalidRequest, match="frame") as caught:
        aside(number, ["v1"])
    assert "same bank" in caught.value.remedy
    assert "asthma" not in str(caught.value)


def test_an_aside_says_no_other_value_by_chance():
    assert {aside(0, ["v4"], random.Random(seed), others=("BAKE", "now")) for seed in range(40)} == {"Back in [[v4|Dayton]] I sing."}


@pytest.mark.long
def test_every_frame_of_the_bank_takes_its_own_slots():
    for found in BANK.frames:
        values = [
            {"id": f"v{n}", "type": kind, "subtype": subtype, "text": f"value{n}", "subject": "self", "relevance": "low"}
            for n, (kind, subtype) in enumerate(found.slots, 1)
        ]
        text = compose_aside(BANK, values, found.index, (), random.Random(found.index))
        assert sorted((v, surface.lower()) for v, surface in marks(text)) == [(v["id"], v["text"]) for v in values]
        assert not set("{}<>") & set(text)


# Qualifiers


def test_a_qualifier_stands_before_a_value_at_times_and_where_the_word_before_it_admits_one():
    values = [VALUES["v1"], VALUES["v4"]]
    drawn = [qualified("My [[v1|asthma]] in [[v4|Dayton]].", values, TALK, random.Random(seed)) for seed in range(400)]
    changed = [text for text in drawn if text != "My [[v1|asthma]] in [[v4|Dayton]]."]
    assert set(changed) == {"My bad [[v1|asthma]] in [[v4|Dayton]].", "My nasty [[v1|asthma]] in [[v4|Dayton]]."}
    assert 0.05 < len(changed) / 400 < 0.35
    for sentence in ("An [[v1|asthma]] day.", "[[v1|asthma]] it is.", "my, [[v1|asthma]]", "No mark at all, my friend."):
        assert all(qualified(sentence, values, TALK, random.Random(seed)) == sentence for seed in range(60))


def test_a_value_gets_its_article_only_where_the_word_before_it_asks_for_one():
    values = [{"id": "v1", "type": "location", "subtype": "country", "text": "Netherlands"}]
    for sentence, wanted in (
        ("I live in [[v1|Netherlands]].", "I live in the [[v1|Netherlands]]."),
        ("In [[v1|Netherlands]] too.", "In the [[v1|Netherlands]] too."),
        ("Country: [[v1|Netherlands]].", "Country: [[v1|Netherlands]]."),
        ("My [[v1|Netherlands]] years.", "My [[v1|Netherlands]] years."),
        ("I live in [[v1|Norway]].", "I live in [[v1|Norway]]."),
    ):
        assert qualified(sentence, values, TALK, random.Random(1)) == wanted


# Questions


def asked(level, rng, *, told="", others=(), scenario=SCENARIO, talk=PLAIN_TALK):
    values = [VALUES["v1"], VALUES["v2"]]
    return dressed(compose_question(scenario, level, told, "", values, others, rng), values, others, talk, rng)


def question_shapes(level):
    """All questions of *level*: bare or with a tail; each with or without a preface."""
    bare = SCENARIO.questions[level]
    shapes = [*bare, *(text.removesuffix("?") + TALK.tails[0] for text in bare)]
    return [*shapes, *(f"{TALK.prefaces[0]} {shape}" for shape in shapes)]


@given(rngs, st.sampled_from(["neutral", "implied", "personal"]))
@settings(deadline=None)
def test_a_question_is_of_its_cue_level(rng, level):
    question = asked(level, rng)
    assert any(fits(question, shape) for shape in question_shapes(level))
    assert question.endswith("?")
    assert question.count("?") == 1
    assert question[0].isupper()


def test_prefaces_and_tails_come_now_and_then():
    drawn = [asked("neutral", random.Random(seed)) for seed in range(400)]
    assert 0.04 < sum(question.startswith("I have read") for question in drawn) / 400 < 0.2
    assert 0.02 < sum(question.endswith(("wrong?", "foolish?")) for question in drawn) / 400 < 0.2


def test_people_ask_in_the_words_in_which_they_have_told():
    told = "Nobody here gets other hours, however tired they are."
    takes_up = [sum("tired" in asked("implied", random.Random(seed), told=words) for seed in range(200)) for words in (told, "")]
    assert takes_up[0] > takes_up[1] + 40


@given(rngs)
@settings(deadline=None)
def test_a_question_shares_no_word_with_a_value_that_matters(rng):
    patterns = ("Would <controllers|clerks> mind?", "Is <Dayton|town> far?", "Go?")
    scenario = replace(SCENARIO, questions=MappingProxyType({"neutral": patterns}))
    question = asked("neutral", rng, others=("Dayton",), scenario=scenario)
    assert content_stems(question).isdisjoint(content_stems("air traffic controller asthma"))
    assert "Dayton" not in question


def test_a_question_that_cannot_keep_the_secret_is_left_to_the_validator():
    scenario = replace(SCENARIO, questions=MappingProxyType({"neutral": ("Is asthma bad?",)}))
    assert asked("neutral", random.Random(1), scenario=scenario, talk=replace(TALK, prefaces=(), tails=())) == "Is asthma bad?"


def test_a_draft_tells_every_value_that_matters():
    draft = compose_draft(SCENARIO, TALK, [VALUES["v1"], VALUES["v2"]], random.Random(2))
    assert draft.startswith("Given asthma; air traffic controller: ")
    assert draft.removeprefix("Given asthma; air traffic controller: ") in SCENARIO.questions["personal"]
    assert compose_draft(SCENARIO, TALK, [], random.Random(2)) in SCENARIO.questions["personal"]
