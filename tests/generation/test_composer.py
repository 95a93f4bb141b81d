"""The composer: articles, capitals, slots; what it answers as a provider."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.corpus.alignment import mark
from piiloom.corpus.record import Record
from piiloom.generation.composer.provider import ComposerProvider
from piiloom.generation.composer.scenario_texts import capitalised, fill
from piiloom.generation.plan.supply import list_triplets
from piiloom.generation.stages.topics import clean_list
from piiloom.providers.errors import InvalidRequest
from piiloom.providers.protocol import PromptCall, Provider
from piiloom.screening.gates import Expectations
from piiloom.screening.screen import default_screen
from piiloom.taxonomy.bank_checks import slot_name
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.bank_style import FIRST_PERSON
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.grammar import all_expansions
from tests.generation.scripted_provider import PLAN, VALUES
from tests.longer import case_by_case


def wrapped(slot, text):
    return mark({"health": "v1", "sexual_orientation": "v2", "v": "v3"}[slot], text)


@case_by_case(
    ("pattern", "filled"),
    [
        ("With {health}, I rest.", "With [[v1|asthma]], I rest."),
        ("As {a:health} patient", "As an [[v1|asthma]] patient"),
        ("{A:health} patient", "An [[v1|asthma]] patient"),
        ("{A:sexual_orientation} man like {a:sexual_orientation} man", "A [[v2|bisexual]] man like a [[v2|bisexual]] man"),
        ("a {sexual_orientation} man, an {sexual_orientation} one", "a [[v2|bisexual]] man, a [[v2|bisexual]] one"),
        ("A {health} day, a {health} night. Plan B {health}", "An [[v1|asthma]] day, an [[v1|asthma]] night. Plan B [[v1|asthma]]"),
        ("a {b} {other:health} {} stays", None),
    ],
)
def test_slots_are_filled_and_articles_chosen(pattern, filled):
    values = {"health": "asthma", "sexual_orientation": "bisexual"}
    if filled is None:
        with pytest.raises(KeyError):
            fill(pattern, values, wrapped)
    else:
        assert fill(pattern, values, wrapped) == filled


def test_slots_are_named_like_their_types():
    assert slot_name("sexual orientation") == "sexual_orientation"
    assert slot_name("health") == "health"


@given(st.text(alphabet=st.characters(exclude_characters="[]|")))
@settings(deadline=None)
def test_a_value_is_never_touched(value):
    # Not even when it looks like a slot.
    assert fill("See {v}; {a:v}.", {"v": value}, wrapped).count(mark("v3", value)) == 2


@case_by_case(
    ("sentence", "written"),
    [
        ("my van died.", "My van died."),
        ("I froze.", "I froze."),
        ("[[v1|asthma]] again.", "[[v1|asthma]] again."),
        ("", ""),
        ("élan", "Élan"),
        ("ßtrange", "ßtrange"),
    ],
)
def test_a_sentence_begins_with_a_capital_unless_with_a_value(sentence, written):
    assert capitalised(sentence) == written


@pytest.mark.parametrize(
    ("sentence", "written"),
    [("[[v1|asthma]] again.", "[[v1|Asthma]] again."), ("[[v1|34]] it is.", "[[v1|34]] it is."), ("[[v12|]]", "[[v12|]]"), ("my", "My")],
)
def test_a_value_may_be_given_the_capital(sentence, written):
    assert capitalised(sentence, value_too=True) == written


# The provider


def test_it_is_a_provider_that_costs_nothing():
    composer = ComposerProvider(load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()), taxonomy=shipped_taxonomy())
    assert isinstance(composer, Provider)
    assert composer.paid is False


def composed(schema_name, *, item_id="4", attempt=0, **variables):
    call = PromptCall(
        stage="s",
        template=f"{schema_name}.v1",
        variables=variables,
        render=tuple,
        schema_name=schema_name,
        schema={},
        item_id=item_id,
        attempt=attempt,
    )
    return asyncio.run(
        ComposerProvider(load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()), taxonomy=shipped_taxonomy()).complete(call)
    )


FIRST = next(iter(load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()).scenarios.values()))
HIGH = [
    {"id": f"v{number}", "type": kind, "text": f"word{number}", "subtype": "", "subject": "self", "relevance": "high"}
    for number, kind in enumerate(FIRST.pair, 1)
]
SAME = {"scenario": FIRST.id, "values": HIGH, "others": [], "words": {"min": 5, "max": 60}, "seed": 3}


def test_a_reply_depends_on_the_call_only():
    assert composed("situation", **SAME) == composed("situation", **SAME)
    replies = {composed("situation", **SAME, attempt=attempt).text for attempt in range(12)}
    assert len(replies) > 3
    assert composed("situation", **SAME).text != composed("situation", **{**SAME, "seed": 4}).text


@pytest.mark.parametrize("level", ["neutral", "implied", "personal"])
def test_a_question_is_of_the_cue_level_of_the_call(level):
    asked = {composed("question_abstracted", **SAME, situation="", attempt=n, cue_level=level).data["question"] for n in range(60)}
    known = {text.removesuffix("?") for pattern in FIRST.questions[level] for text in all_expansions(pattern, 500)}
    of_scenario = [question for question in asked if any(text in question for text in known)]
    # The others ask about the themes of the values only.
    assert len(of_scenario) > (len(asked) - 1 if level == "neutral" else 0.6 * len(asked))
    assert len(asked) > 20


def test_a_personal_question_is_personal():
    asked = {composed("question_personal", **SAME, situation="", attempt=n).data["question"] for n in range(60)}
    assert len([question for question in asked if FIRST_PERSON.search(question)]) > 0.8 * len(asked)


def test_a_draft_names_the_values():
    drafted = composed("question_draft", **SAME).data["question"]
    assert all(value["text"] in drafted for value in HIGH)


def test_a_template_it_does_not_know_is_an_invalid_request():
    with pytest.raises(InvalidRequest, match="no answer"):
        composed("limerick")


def test_topics_and_subtopics_come_from_the_bank():
    bank = load_bank(language="en", extra=None, taxonomy=shipped_taxonomy())
    types = [{"name": kind} for kind in PLAN.pair]
    listed = composed("topics", types=types, count=99, seed=1).data["topics"]
    assert sorted(listed) == sorted({scenario.topic for scenario in bank.for_pair(PLAN.pair)})
    assert len(composed("topics", types=types, count=1, seed=1).data["topics"]) == 1
    for topic in listed:
        subtopics = composed("subtopics", types=types, topic=topic, count=99, seed=1).data["subtopics"]
        assert all(bank.find(PLAN.pair, topic, subtopic) for subtopic in subtopics)


@pytest.mark.parametrize("pair", shipped_taxonomy().pairs, ids="+".join)
def test_every_scenario_can_be_planned(pair):
    """No topic or subtopic of the bank is dropped as a repeat, or its scenario would never be told."""
    scenarios = load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()).for_pair(pair)
    names = tuple(dict.fromkeys(scenario.topic for scenario in scenarios))
    assert clean_list(names, at_most=99, banned=pair).kept == names
    lists = {}
    for scenario in scenarios:
        known = lists.setdefault(scenario.topic, [])
        known += [subtopic for subtopic in scenario.subtopics if subtopic not in known]
    for topic, listed in lists.items():
        assert clean_list(listed, at_most=99, banned=(topic,)).kept == tuple(listed)
    reached = {
        found.id
        for place in list_triplets(names, lists, 999).found
        for found in load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()).find(pair, *place)
    }
    assert reached == {scenario.id for scenario in scenarios}


def test_every_personal_question_is_in_the_first_person():
    """Or the question stage would refuse it, and with it every text of a scenario that has no other."""
    bank = load_bank(language="en", extra=None, taxonomy=shipped_taxonomy())
    patterns = [(found.id, pattern) for found in bank.scenarios.values() for pattern in found.questions["personal"]]
    assert [(name, text) for name, pattern in patterns for text in all_expansions(pattern, 200) if not FIRST_PERSON.search(text)] == []


@pytest.mark.long
def test_what_goes_with_any_question_names_no_type():
    talk, gate = (
        load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()).talk,
        default_screen(taxonomy=shipped_taxonomy()).gates[3],
    )
    pairable = [kind.name for kind in shipped_taxonomy().types.values() if kind.pairable]
    for pattern in (*talk.prefaces, *talk.tails):
        for text in all_expansions(pattern, 60):
            record = Record(id="r", context="", question=text)
            assert [kind for kind in pairable if gate.check(record, Expectations(pair=(kind, kind)))] == [], text


def test_a_span_is_answered_when_it_stands_there():
    value = {"text": VALUES[0].text}
    assert composed("span_retrieval", value=value, text="My asthma.").data == {"span": "asthma"}
    assert composed("span_retrieval", value=value, text="My lungs.").data == {"span": None}


def test_an_article_of_another_language_stays():
    assert fill("A {health} e a {health}", {"health": "asma"}, wrapped, "pt_BR") == "A [[v1|asma]] e a [[v1|asma]]"


def test_whose_english_it_is_decides_an_article():
    told = [fill("{a:health}", {"health": "herb allergy"}, wrapped, locale) for locale in ("en_US", "en_GB")]
    assert told == ["an [[v1|herb allergy]]", "a [[v1|herb allergy]]"]
