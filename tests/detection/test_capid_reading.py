"""The lists of the detector "capid": any spelling is read, what is not known is told, and places are exact or counted."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.corpus.mention_search import SearchableText, stands_alone
from piiloom.detection.capid_detector import ListedEntry, everywhere, place_entries, read_entries
from piiloom.execution.calls import Fault
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import case_by_case

ASTHMA = ListedEntry("asthma", "health", "high")
NURSE = ListedEntry("nurse", "occupation", "low")
TEXT = "My name is Jan Kowalski, call +48 601-202-303. I “have” asthma, in New  York, at O’Brien Street. Masthead. 我住在北京市朝阳区。"

LIST = '[{"value": "asthma", "type": "health", "relevance": "high"}, {"value": "nurse", "type": "occupation", "relevance": "low"}]'
FENCED = """Of course!
```
{'mentions': [{'text': 'asthma', 'label': 'HEALTH', 'relevance': 'relevant',},
 {'text': 'nurse', 'label': 'occupation', 'relevance': 'irrelevant'}]}
```"""


@case_by_case(
    "reply",
    [
        LIST,
        '{"piis": {"asthma": {"type": "health", "relevance": "1"}, "nurse": {"type": "occupation", "relevance": "0"}}}',
        '{"asthma": {"type": "Health", "relevance": 1}, "nurse": {"type": "occupation", "relevance": 0}}',
        '{"value": "asthma", "type": "health", "relevance": true}\n{"value": "nurse", "type": "Occupation", "relevance": "Low"}',
        FENCED,
        f'[{{"value": "x", "type": "age"}}] No, wait: {LIST}',
    ],
)
def test_spellings_of_a_list(reply: str) -> None:
    listed = read_entries(reply, relevance=True, taxonomy=shipped_taxonomy())
    assert listed == ([ASTHMA, NURSE], [], False)


def test_a_value_that_repeats_in_an_object_is_an_entry_each_time() -> None:
    twice = '{"May": {"type": "name", "relevance": "0"}, "May": {"type": "datetime", "relevance": "1"}, "nurse": {"type": "age"'
    listed = read_entries(twice, relevance=True, taxonomy=shipped_taxonomy())
    assert listed == ([ListedEntry("May", "name", "low"), ListedEntry("May", "datetime", "high")], [], True)
    kinds = '{"May": [{"type": "name", "relevance": "0"}, {"type": "datetime", "relevance": "1"}]}'
    assert read_entries(kinds, relevance=True, taxonomy=shipped_taxonomy()).entries == listed.entries
    text = "May likes May"
    places = [(one.start, one.entry.entity_type) for one in place_entries(text, (0, len(text)), listed.entries).mentions]
    assert places == [(0, "name"), (10, "datetime")]
    assert [one.reason for one in place_entries("May", (0, 3), listed.entries).set_aside] == ["too_often"]
    assert read_entries('{"value": {"type": "name"}}', relevance=False, taxonomy=shipped_taxonomy()).entries == [
        ListedEntry("value", "name", None)
    ]


def test_what_is_not_known_is_told() -> None:
    entries = [
        {"value": "asthma", "type": "health", "relevance": "perhaps"},
        {"value": "nurse", "type": "profession of faith", "relevance": "low"},
        {"value": " ", "type": "name", "relevance": "low"},
        {"value": 34, "type": "age", "relevance": "high"},
        {"type": "age"},
        "asthma",
    ]
    listed = read_entries(json.dumps(entries), relevance=True, taxonomy=shipped_taxonomy())
    assert listed.entries == [ListedEntry("asthma", "health", None), ListedEntry("34", "age", "high")]
    assert [(one.reason, one.value) for one in listed.refused] == [
        ("unknown_type", "nurse"),
        ("empty", ""),
        ("no_entry", ""),
        ("no_entry", ""),
        ("unknown_relevance", "asthma"),
    ]
    assert [one.relevance for one in read_entries(json.dumps(entries), relevance=False, taxonomy=shipped_taxonomy()).entries] == [
        None,
        None,
    ]


@pytest.mark.parametrize("reply", ["[]", "{}", '{"mentions": []}', "There is nothing: []"])
def test_nothing_is_an_answer(reply: str) -> None:
    assert read_entries(reply, relevance=True, taxonomy=shipped_taxonomy()) == ([], [], False)


@case_by_case("reply", ["none", '["asthma"]', "[", '[{"value": "asth', '{"high": [{"value": "x"}], "low": []}', '{"asthma": 1}'])
def test_what_is_no_list_is_asked_again(reply: str) -> None:
    with pytest.raises(Fault):
        read_entries(reply, relevance=True, taxonomy=shipped_taxonomy())


def test_whole_entries_of_a_list_that_ends_too_early() -> None:
    listed = read_entries(
        '[{"value": "asthma", "type": "health", "relevance": "high"}, {"value": "nur', relevance=True, taxonomy=shipped_taxonomy()
    )
    assert listed == ([ASTHMA], [], True)


@case_by_case(
    ("value", "surface", "step"),
    [
        ("Jan Kowalski", "Jan Kowalski", "exact"),
        ("jan kowalski", "Jan Kowalski", "normalised"),
        ("Jan Kowalsky", "Jan Kowalski", "fuzzy"),
        ("+48601202303", "+48 601-202-303", "regrouped"),
        ("48 601 202 304", None, "invented"),
        ('"asthma"', "asthma", "normalised"),
        ("“have”", "“have”", "exact"),
        ("astma", "asthma", "fuzzy"),
        ("New York", "New  York", "normalised"),
        ("O'Brien Street", "O’Brien Street", "normalised"),
        ("mast", None, "inside_word"),
        ("Warsaw", None, "invented"),
        ("北京市", "北京市", "exact"),
        ("\u200b ", None, "empty"),
        ("?!", None, "invented"),
    ],
)
def test_values_in_other_spellings(value: str, surface: str | None, step: str) -> None:
    found = SearchableText(TEXT).find(value)
    assert found.step == step
    assert [TEXT[a:b] for a, b in found.ranges] == ([] if surface is None else [surface])


def test_mentions_are_taken_in_the_order_of_the_list() -> None:
    text = "Paris, then Paris; 34 km at 34. Paris"
    entries = [
        ListedEntry("Paris", "location", "low"),
        ListedEntry("Paris", "location", "high"),
        ListedEntry("34", "age", "high"),
        ListedEntry("34", "age", "high"),
    ]
    placed = place_entries(text, (0, len(text)), [*entries, ListedEntry("34", "age", "low")])
    assert [(one.reason, one.value) for one in placed.set_aside] == [("too_often", "34")]
    found = everywhere(text, placed.mentions).mentions
    assert [(one.start, one.entry.relevance) for one in found] == [(0, "low"), (12, "high"), (19, "high"), (28, "high"), (32, "high")]


def test_a_number_and_a_function_word_count_as_often_as_they_are_listed() -> None:
    text = "she is 34 and drove 34 km, she said; call 555 123 or 555 123"
    entries = [ListedEntry("she", "demographic", "low"), ListedEntry("34", "age", "high"), ListedEntry("555 123", "code", "low")]
    found = everywhere(text, place_entries(text, (0, len(text)), entries).mentions).mentions
    assert [text[one.start : one.end] for one in found] == ["she", "34", "555 123", "555 123"]


def test_of_overlapping_mentions_the_longest_stays_and_the_other_is_told() -> None:
    text = "I work in Ann Arbor with Ann."
    entries = [ListedEntry("Ann Arbor", "location", "low"), ListedEntry("Arbor", "name", "low"), ListedEntry("Ann", "name", "low")]
    found = everywhere(text, place_entries(text, (0, len(text)), entries).mentions)
    assert [text[one.start : one.end] for one in found.mentions] == ["Ann Arbor", "Ann"]
    assert [(one.reason, one.value, one.start) for one in found.set_aside] == [("overlap", "Arbor", 14)]


def test_a_value_within_another_one_is_looked_for_beside_it_first() -> None:
    text = "Paris Hilton lives in Paris."
    entries = [ListedEntry("Paris Hilton", "name", "low"), ListedEntry("Paris", "location", "high")]
    placed = place_entries(text, (0, len(text)), entries)
    assert [(one.start, one.end) for one in placed.mentions] == [(0, 12), (22, 27)]
    assert everywhere(text, placed.mentions) == (placed.mentions, [])


SAID = st.builds(ListedEntry, st.sampled_from("asthma nurse Anna Łódź 34 Ohio".split()), st.just("name"), st.sampled_from(("high", "low")))


def answer_of(entries: list[ListedEntry]) -> str:
    """The answer that an export trains."""
    return json.dumps([{"value": one.value, "type": one.entity_type, "relevance": one.relevance} for one in entries], ensure_ascii=False)


@given(st.lists(SAID))
def test_a_model_that_answers_as_an_export_trains_gives_what_the_export_was_made_of(entries: list[ListedEntry]) -> None:
    text = "; then ".join(entry.value for entry in entries)
    listed = read_entries(answer_of(entries), relevance=True, taxonomy=shipped_taxonomy())
    placed = place_entries(text, (0, len(text)), listed.entries)
    assert not placed.set_aside
    assert [(text[one.start : one.end], one.entry) for one in everywhere(text, placed.mentions).mentions] == [
        (entry.value, entry) for entry in entries
    ]


SIGNS = st.sampled_from([*"[]{}\"':,\\ ax\n", "", "```", '"}'])


@given(st.lists(SAID, min_size=1, max_size=4), st.lists(st.tuples(st.integers(0, 300), st.integers(0, 9), SIGNS), max_size=4))
def test_a_spoilt_answer_is_asked_again_or_gives_exact_places(entries: list[ListedEntry], edits: list[tuple[int, int, str]]) -> None:
    text = "; then ".join(entry.value for entry in entries)
    reply = answer_of(entries)
    for at, length, sign in edits:
        reply = reply[:at] + sign + reply[at + length :]
    try:
        listed = read_entries(reply, relevance=True, taxonomy=shipped_taxonomy())
    except Fault:
        return
    placed = place_entries(text, (0, len(text)), listed.entries)
    altered = {one.value for one in placed.set_aside if one.reason == "altered"}
    assert all(text[one.start : one.end] == one.entry.value.strip() or one.entry.value in altered for one in placed.mentions)
    assert len(placed.mentions) + len([one for one in placed.set_aside if one.reason != "altered"]) <= len(listed.entries)
    assert all(stands_alone(text, one.start, one.end) for one in everywhere(text, placed.mentions).mentions)


WORDS = st.sampled_from(
    ["Anna", "asthma", "Łódź", "34", "the", "nurse", "北京", "O’Brien", "-", "'", "x7", "e\u0301", "😀", "Ann", ".", "\n"]
)
TEXTS = st.lists(WORDS, max_size=14).map(" ".join) | st.lists(WORDS, max_size=8).map("".join)
KNOTTY = st.text(st.sampled_from("ab 1張伟.é\u0301'’"), max_size=30)
ENTRIES = st.lists(st.builds(ListedEntry, st.lists(WORDS, min_size=1, max_size=3).map(" ".join), st.just("name"), st.none()), max_size=6)


@given(TEXTS, ENTRIES, st.integers(0, 30))
def test_every_entry_gets_a_place_or_a_reason(text: str, entries: list[ListedEntry], cut: int) -> None:
    pieces = [(0, min(cut, len(text))), (min(cut, len(text)), len(text))]
    placed = [place_entries(text, piece, entries) for piece in pieces]
    for piece, one in zip(pieces, placed, strict=True):
        reasons = {aside.value for aside in one.set_aside}
        mentioned = Counter(mention.entry for mention in one.mentions)
        assert all(mentioned[entry] or entry.value in reasons for entry in entries)
        assert all(piece[0] <= mention.start < mention.end <= piece[1] for mention in one.mentions)
    found = everywhere(text, [mention for one in placed for mention in one.mentions])
    ends = 0
    for mention in found.mentions:
        assert ends <= mention.start < mention.end <= len(text)
        assert not mention.listed or SearchableText(text[mention.start : mention.end]).find(mention.entry.value).ranges
        assert mention.listed or stands_alone(text, mention.start, mention.end)
        ends = mention.end


@given(st.text(max_size=40) | KNOTTY, st.text(max_size=12) | KNOTTY)
def test_any_value_is_found_exactly_or_not_at_all(text: str, value: str) -> None:
    found = SearchableText(text).find(value)
    assert (not found.ranges) == (found.step in {"inside_word", "invented", "empty"})
    for start, end in found.ranges:
        assert 0 <= start < end <= len(text)
        assert found.step == "regrouped" or stands_alone(text, start, end)
        assert found.step != "exact" or text[start:end] in value
    assert all(b <= c for (_, b), (c, _) in itertools.pairwise(found.ranges))
