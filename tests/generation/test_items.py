"""Items survive their way through the store as JSON, whatever their texts hold."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from piiloom.corpus.alignment import MarkedMention, MarkedText, strip_marks
from piiloom.corpus.record import Span
from piiloom.generation.item import Aside, Item, ItemValue, PlanItem, Question, WantedValue, item_from_json, item_to_json, plan_to_json
from tests.generation.scripted_provider import PLAN, SITUATION, a_told_item, an_item

NASTY = ["\r\n", "\u2028", "👩‍🚀", "e\u0301", "שלום", "\u200b", "\ufeff", "𝔘", '"', "\\", "\0", "[[v1|", "word"]
texts = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=6)), max_size=6).map("".join)
ids = st.integers(1, 99).map("v{}".format)
relevances = st.sampled_from(["high", "low"])
bands = st.tuples(st.integers(0, 99), st.integers(0, 99))
numbers = st.integers(0, 200)

mentions = st.builds(MarkedMention, value_id=ids, start=numbers, end=numbers)
marked = st.builds(MarkedText, text=texts, mentions=st.lists(mentions, max_size=3).map(tuple))
wanted = st.builds(
    WantedValue, id=ids, entity_type=texts, relevance=relevances, subtypes=st.lists(texts, max_size=2).map(tuple), subject=texts
)
asides = st.builds(
    Aside, values=st.lists(ids, max_size=4).map(tuple), frame=st.none() | numbers, opening=st.booleans(), closing=st.booleans()
)
plans = st.builds(
    PlanItem,
    index=numbers,
    seed=st.integers(0, 2**63 - 1),
    pair=st.tuples(texts, texts),
    topic=texts,
    subtopic=texts,
    scenario=st.none() | texts,
    locale=texts,
    register=texts,
    cue_level=texts,
    voice=st.just("first person"),
    surface_forms=st.just("verbatim"),
    wanted=st.lists(wanted, max_size=3).map(tuple),
    asides=st.lists(asides, max_size=3).map(tuple),
    lead=st.none() | relevances,
    situation_words=bands,
    peripheral_words=bands,
    context_words=bands,
    target_words=numbers,
    question_words=bands,
    situation_sentences=numbers,
    peripheral_sentences=numbers,
)
values = st.builds(ItemValue, id=ids, entity_type=texts, subtype=st.none() | texts, text=texts, relevance=relevances, subject=texts)
spans = st.builds(
    Span,
    id=texts,
    start=numbers,
    end=numbers,
    entity_type=texts,
    relevance=st.none() | relevances,
    subtype=st.none() | texts,
    value_id=st.none() | ids,
    subject=st.none() | texts,
)
items = st.builds(
    Item,
    plan=plans,
    values=st.lists(values, max_size=3).map(tuple),
    situation=st.none() | marked,
    peripheral=st.lists(marked, max_size=2).map(tuple),
    question=st.none() | st.builds(Question, draft=texts, personal=texts, abstracted=texts),
    passage=st.none() | marked,
    spans=st.lists(spans, max_size=2).map(tuple),
    refused=numbers,
)


@given(items)
@settings(deadline=None, max_examples=30)
def test_an_item_comes_back_as_it_was(item):
    text = item_to_json(item)
    back = item_from_json(text)
    assert back == item
    assert item_to_json(back) == text
    assert "\n" not in text


def test_the_json_is_plain():
    told = json.loads(item_to_json(a_told_item()))
    assert told["situation"]["mentions"][0] == {"value_id": "v2", "start": 5, "end": 17}
    assert json.loads(plan_to_json(PLAN)) == told["plan"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"plan": 3}', item_to_json(an_item())[:-2]])
def test_anything_else_is_refused(text):
    with pytest.raises(ValidationError):
        item_from_json(text)


def test_values_are_found_by_id():
    item = an_item()
    assert item.value("v3").text == "Dayton"
    assert [value.id for value in item.high_values()] == ["v1", "v2"]
    with pytest.raises(KeyError):
        item.value("v9")


def test_marks_stay_with_their_words_through_the_store():
    item = a_told_item()
    assert item_from_json(item_to_json(item)).situation == strip_marks(SITUATION)
