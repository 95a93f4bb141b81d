"""The composer: articles, capitals, slots, asides within their band, posts that keep every mark."""

from __future__ import annotations

import asyncio
import random
import re
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.marks import MARK, mark, strip_marks
from foundation.words import count_words
from generation.composer.asides import compose_aside
from generation.composer.filling import article, capitalised, fill, slot_name
from generation.composer.passages import TURNS, compose_passage
from generation.composer.provider import ComposerProvider
from generation.phrases import clean_list
from generation.triplets import list_triplets
from providers.errors import InvalidRequest
from providers.protocol import PromptCall, Provider
from taxonomy.entity_types import load_taxonomy
from taxonomy.scenarios import Bank, load_bank
from tests.generation.scripted_provider import PLAN, SITUATION, VALUES

AN = """
hour|hourly wage|honest broker|honorary degree|honour guard|heir|MRI technician|8-year-old|80-hour week
11th grader|18-month lease|11:30 pm slot|11,000-mile trip|X-ray|x-ray technician|F-1 visa holder
H-1B visa holder|HR manager|NHS nurse|MBA|MSc in physics|MPhil|RN|SUV|S-shaped scar|A-level|EU citizen|EMT
ICU nurse|ulcer|umbilical hernia|uncle|uninsured driver|unidentified rash|unimportant note|usher|urgent matter
Uzbek|Urdu teacher|utter bore|only child|Oneida|onion allergy|oncologist|ex-husband|$8,250 debt|"early riser"
élan|Yvette|egg allergy|e-commerce manager|O-negative donor
"""
A = """
university|unicyclist|union rep|unique case|Unitarian|European|Eurasian|euphonium player|one-off|one-armed man
once-daily pill|user|usual fee|US citizen|U.S. citizen|UK national|U-turn|UX designer|Ukrainian|Ugandan
Uruguayan|Uyghur|urologist|uterine fibroid|utility worker|utopian|ubiquitous app|ewe|Ewe speaker|uveitis
historian|Honduran|honey allergy|homeopath|house|heron|herniated disc|hospital|yoga teacher|youth worker
180-degree turn|1,100-mile trip|10-year-old|7-year-old|17-year-old|100|$1,800 loan|$52,400 salary|PhD student
BA|CT scan|DUI|GP|J-1 visa|T-shirt|Peruvian|nurse|SNAP recipient|NICU nurse|LASIK procedure
"""


def phrases(text):
    return [phrase for line in text.strip().splitlines() for phrase in line.split("|")]


@pytest.mark.parametrize("phrase", phrases(AN))
def test_an_before_a_vowel_sound(phrase):
    assert article(phrase) == "an"


@pytest.mark.parametrize("phrase", phrases(A))
def test_a_before_a_consonant_sound(phrase):
    assert article(phrase) == "a"


@given(st.text())
@settings(deadline=None)
def test_every_text_gets_an_article(text):
    assert article(text) in {"a", "an"}


def wrapped(slot, text):
    return mark({"health": "v1", "sexual_orientation": "v2", "v": "v3"}[slot], text)


@pytest.mark.parametrize(
    ("pattern", "filled"),
    [
        ("With {health}, I rest.", "With [[v1|asthma]], I rest."),
        ("As {a:health} patient", "As an [[v1|asthma]] patient"),
        ("{A:health} patient", "An [[v1|asthma]] patient"),
        ("{A:sexual_orientation} man like {a:sexual_orientation} man", "A [[v2|bisexual]] man like a [[v2|bisexual]] man"),
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


@pytest.mark.parametrize(
    ("sentence", "written"),
    [
        ("my van died.", "My van died."),
        ("I froze.", "I froze."),
        ("[[v1|asthma]] again.", "[[v1|asthma]] again."),
        ("", ""),
        ("élan", "Élan"),
    ],
)
def test_a_sentence_begins_with_a_capital_unless_with_a_value(sentence, written):
    assert capitalised(sentence) == written


# Asides


BANK = Bank(
    scenarios=MappingProxyType({}),
    clauses=MappingProxyType(
        {
            "location.city": (
                "my cousins in {v} mail me postcards of <old|rattling> green trams",
                "nothing ever happens in {v} on wet Sundays, says my aunt",
            ),
            "occupation.job_title": (
                "my neighbour, {a:v}, keeps nine hens behind the shed",
                "I once shared a stove with {a:v} for a winter",
            ),
        }
    ),
    fillers=("I have been learning to bake <sourdough|rye bread> in a chipped clay pot", "my old kettle whistles in two keys at once"),
    digest="",
    pairs=MappingProxyType({}),
)
CITY = {"id": "v3", "text": "Dayton", "type": "location", "subtype": "city"}
JOB = {"id": "v4", "text": "air traffic controller", "type": "occupation", "subtype": "job_title"}


@given(st.randoms(use_true_random=False), st.sampled_from([[CITY], [JOB], [CITY, JOB], [JOB, CITY]]))
@settings(deadline=None)
def test_an_aside_has_its_length_and_every_value_once(rng, values):
    sentence = compose_aside(BANK, values, (18, 25), rng)
    plain = strip_marks(sentence)
    assert 18 <= count_words(plain.text) <= 25
    assert sorted(m.value_id for m in plain.mentions) == sorted(value["id"] for value in values)
    assert plain.text.endswith(".")
    assert sentence.startswith("[[") or sentence[0].isupper()
    assert "{" not in sentence
    assert "a [[v4|air" not in sentence.replace("an [[v4|air", "")


def test_an_impossible_band_gives_a_sentence_for_the_validator_to_refuse():
    sentence = compose_aside(BANK, [CITY], (70, 80), random.Random(1))
    assert "[[v3|Dayton]]" in sentence


# Posts

SENTENCES = (
    SITUATION,
    "My cousins in [[v3|Dayton]] keep mailing me postcards of rattling green trams.",
    "[[v4|Hartwell Logistics]] still sends me calendars, and my kettle whistles in two keys.",
    "I was told to call [[v5|555-0142]] twice, while my old boat slowly filled with rain.",
    "Last spring we drove past [[v6|Maple Street]]; nobody waved.",
)
RELEVANCE = {"v1": "high", "v2": "high", "v3": "low", "v4": "low", "v5": "low", "v6": "low"}


@given(st.permutations(SENTENCES), st.sampled_from(["high", "low"]), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_a_post_keeps_every_mark_and_leads_as_asked(sentences, lead, rng):
    post = compose_passage(sentences, RELEVANCE, lead, rng)
    marks = MARK.findall(post)
    assert sorted(marks) == sorted(found for sentence in sentences for found in MARK.findall(sentence))
    assert RELEVANCE[marks[0][0]] == lead
    # Nothing but turns of phrase, breaks and one capital a turn is added.
    bare = re.sub("|".join(re.escape(turn) for turn in TURNS), "", post)
    assert sorted(re.findall(r"\w+", bare.casefold())) == sorted(re.findall(r"\w+", " ".join(sentences).casefold()))
    assert post == post.strip()


def test_a_lone_situation_is_the_post():
    assert compose_passage([SITUATION], RELEVANCE, "high", random.Random(1)) == SITUATION


def test_turns_of_phrase_keep_the_grammar_of_what_follows():
    posts = [compose_passage(SENTENCES, RELEVANCE, "high", random.Random(seed)) for seed in range(200)]
    turned = [post for post in posts if any(turn in post for turn in TURNS)]
    assert len(turned) > 100
    for post in turned:
        for turn in TURNS:
            for after in re.findall(re.escape(turn) + r"(\S+)", post):
                assert after in {"my", "I", "last"}, after
    assert any("\n\n" in post for post in posts)
    assert any("\n\n" not in post for post in posts)


# The provider


def test_it_is_a_provider_that_costs_nothing():
    composer = ComposerProvider(load_bank())
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
    return asyncio.run(ComposerProvider(load_bank()).complete(call))


def test_a_reply_depends_on_the_call_only():
    first = next(iter(load_bank().scenarios.values()))
    values = [
        {"id": f"v{number}", "type": kind, "text": f"word{number}", "subtype": "", "subject": "self", "relevance": "high"}
        for number, kind in enumerate(first.pair, 1)
    ]
    same = {"scenario": first.id, "values": values, "words": {"min": 5, "max": 60}, "seed": 3}
    assert composed("situation", **same) == composed("situation", **same)
    replies = {composed("situation", **same, attempt=attempt).text for attempt in range(12)}
    assert len(replies) > 3
    assert composed("situation", **same).text != composed("situation", **{**same, "seed": 4}).text


def test_a_template_it_does_not_know_is_an_invalid_request():
    with pytest.raises(InvalidRequest, match="no answer"):
        composed("limerick")


def test_topics_and_subtopics_come_from_the_bank():
    bank = load_bank()
    types = [{"name": kind} for kind in PLAN.pair]
    listed = composed("topics", types=types, count=99, seed=1).data["topics"]
    assert sorted(listed) == sorted({scenario.topic for scenario in bank.for_pair(PLAN.pair)})
    assert len(composed("topics", types=types, count=1, seed=1).data["topics"]) == 1
    for topic in listed:
        subtopics = composed("subtopics", types=types, topic=topic, count=99, seed=1).data["subtopics"]
        assert all(bank.find(PLAN.pair, topic, subtopic) for subtopic in subtopics)


@pytest.mark.parametrize("pair", load_taxonomy().pairs, ids="+".join)
def test_every_scenario_can_be_planned(pair):
    """No topic or subtopic of the bank is dropped as a repeat, or its scenario would never be told."""
    scenarios = load_bank().for_pair(pair)
    names = tuple(dict.fromkeys(scenario.topic for scenario in scenarios))
    assert clean_list(names, at_most=99, banned=pair).kept == names
    lists = {}
    for scenario in scenarios:
        known = lists.setdefault(scenario.topic, [])
        known += [subtopic for subtopic in scenario.subtopics if subtopic not in known]
    for topic, listed in lists.items():
        assert clean_list(listed, at_most=99, banned=(topic,)).kept == tuple(listed)
    reached = {found.id for place in list_triplets(names, lists, 999).found for found in load_bank().find(pair, *place)}
    assert reached == {scenario.id for scenario in scenarios}


def test_a_span_is_answered_when_it_stands_there():
    value = {"text": VALUES[0].text}
    assert composed("span_retrieval", value=value, text="My asthma.").data == {"span": "asthma"}
    assert composed("span_retrieval", value=value, text="My lungs.").data == {"span": None}
