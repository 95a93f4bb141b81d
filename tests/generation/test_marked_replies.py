"""What text stages check in a reply: marks, values, length, voice, number of sentences."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.corpus.alignment import mark
from piiloom.foundation.words import count_words
from piiloom.generation.item import ItemValue
from piiloom.generation.stage import Fault
from piiloom.generation.stages.texts import (
    check_first_person,
    check_length,
    check_sentences,
    other_texts,
    read_marked,
    read_sentences,
    value_variables,
)
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.generation.scripted_provider import SITUATION, VALUES, an_item, surfaces
from tests.longer import case_by_case, examples

FILLING = ["\u00e9t\u00e9", "👩‍🚀", "e\u0301", "שלום", "\r\n", "\u200b", "𝔘", ".", "river", "I"]
fillings = st.lists(
    st.one_of(st.sampled_from(FILLING), st.text(alphabet=st.characters(exclude_characters="[]|{}<>`"), max_size=5)), max_size=6
)


def value(text, *, number=1, kind="health"):
    return ItemValue(id=f"v{number}", entity_type=kind, subtype=None, text=text, relevance="high")


def code_of(reply, values=VALUES[:2]):
    with pytest.raises(Fault) as caught:
        read_marked(reply, values)
    return caught.value.code


def test_marks_become_offsets():
    read = read_marked("  My [[v1|asthma]] hates a [[v2|tunnel miner]]'s dust.\n", VALUES[:2])
    assert read.text == "My asthma hates a tunnel miner's dust."
    assert surfaces(read) == [("v1", "asthma"), ("v2", "tunnel miner")]


def test_lost_marks_and_repeats_are_located():
    read = read_marked("Asthma and a tunnel miner: my [[v1|asthma]] wins.", VALUES[:2])
    assert surfaces(read) == [("v1", "Asthma"), ("v2", "tunnel miner"), ("v1", "asthma")]


@case_by_case(
    ("reply", "code"),
    [
        ("My [[v1|asthma]] is back.", "value_missing"),
        ("My [[v1|wheezing]] as a [[v2|tunnel miner]].", "value_changed"),
        ("My [[v1|astma]] as a [[v2|tunnel miner]].", "value_changed"),
        ("My astma as a [[v2|tunnel miner]].", "value_changed"),
        ("My asthmatic lungs as a [[v2|tunnel miner]].", "value_inside_word"),
        ("My [[v1|asthma]] as a [[v2|tunnel\u00a0miner]].", "value_changed"),
        ("My [[v1|asthma] as a [[v2|tunnel miner]].", "broken_mark"),
        ("My [[v1|asthma]] as a [[v2|tunnel miner]].]]", "broken_mark"),
        ("My [[asthma]] as a [[v2|tunnel miner]].", "broken_mark"),
        ("", "value_missing"),
    ],
)
def test_a_value_that_is_lost_or_altered_is_a_fault_with_its_kind(reply, code):
    assert code_of(reply) == code


def test_the_fault_names_the_value_and_how_it_is_to_be_written():
    with pytest.raises(Fault, match=r"\[\[v1\|asthma\]\]"):
        read_marked("As a [[v2|tunnel miner]], I cough.", VALUES[:2])


def test_a_change_of_case_is_let_pass():
    assert surfaces(read_marked("[[v1|Asthma]] and a [[v2|Tunnel Miner]].", VALUES[:2])) == [("v1", "Asthma"), ("v2", "Tunnel Miner")]


def test_a_value_inside_another_needs_a_mention_of_its_own():
    both = (value("bank clerk"), value("bank", number=2))
    assert code_of("A [[v1|bank clerk]] I am.", both) == "value_overlap"
    assert surfaces(read_marked("A [[v1|bank clerk]] by the [[v2|bank]].", both)) == [("v1", "bank clerk"), ("v2", "bank")]


@given(st.lists(fillings.map("".join), min_size=4, max_size=4), st.permutations([0, 1, 2]), st.lists(st.booleans(), min_size=3, max_size=3))
@settings(deadline=None, max_examples=examples(150))
def test_values_among_any_text_are_found_exactly(fillers, order, are_marked):
    pieces = [fillers[0]]
    for place, filler in zip(order, fillers[1:], strict=True):
        found = VALUES[place]
        pieces += [" ", mark(found.id, found.text) if are_marked[place] else found.text, " ", filler]
    read = read_marked("".join(pieces), VALUES)
    assert {value_id for value_id, _ in surfaces(read)} == {"v1", "v2", "v3"}
    texts = {found.id: found.text.casefold() for found in VALUES}
    assert all(surface.casefold() == texts[value_id] for value_id, surface in surfaces(read))
    places = [(mention.start, mention.end) for mention in read.mentions]
    assert places == sorted(places)
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(places))
    assert "[[" not in read.text


@given(st.text(max_size=60), st.integers(0, 12), st.integers(0, 12))
@settings(deadline=None)
def test_length_is_counted_in_words_with_both_ends_allowed(text, low, high):
    number = count_words(text)
    if low <= number <= high:
        assert check_length(text, (low, high)) is None
    else:
        with pytest.raises(Fault, match=f"it has {number} words") as caught:
            check_length(text, (low, high))
        assert caught.value.code == "wrong_length"


@case_by_case("text", ["I froze.", "It is mine.", "My boss left.", "They saw us.", "I'm late.", "Tell me, our van broke."])
def test_the_first_person_is_heard(text):
    assert check_first_person(text, "en") is None


@pytest.mark.parametrize("text", ["She froze.", "Yesterday it rained.", "A mime in the museum.", ""])
def test_a_text_about_others_is_refused_in_english_only(text):
    with pytest.raises(Fault, match="must speak as I"):
        check_first_person(text, "en")
    assert check_first_person(text, "de") is None


@case_by_case(
    ("text", "number"),
    [
        ("", 1),
        ("I froze halfway up.", 1),
        ("I see Dr. Osei and Mrs. Lund at St. Brendan each week.", 1),
        ("I paid $3.50 at 7:45 p.m. for a pie.", 1),
        ('She said "no" and I left.', 1),
        ("I work for J. R. Hartwell now.", 1),
        ("I asked (twice!) and got nothing.", 1),
        ("I froze\nand fell.", 1),
        ("I froze. Then I fell.", 2),
        ('I froze! "Help," I said.', 2),
        ("Am I late? I am.", 2),
        ('He left." I froze.', 2),
        ("I froze.\nThen I fell.\n\nNobody saw. Not one!", 4),
    ],
)
def test_sentences_are_counted_whatever_their_stops(text, number):
    assert check_sentences(text, number) is None
    with pytest.raises(Fault, match=f"it has {number} sentences; {number - 1} at most") as caught:
        check_sentences(text, number - 1)
    assert caught.value.code == "too_many_sentences"


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (SITUATION, None),
        (f"{SITUATION} Nobody cared.", None),
        (f"They say so. {SITUATION} Nobody cared.", "too_many_sentences"),
        ("[[v2|tunnel miner]], [[v1|asthma]].", "wrong_length"),
        (SITUATION.replace("[[v1|asthma]]", "dust"), "value_missing"),
    ],
)
def test_sentences_are_read_with_their_values_within_a_band(reply, code):
    if code is None:
        assert {value_id for value_id, _ in surfaces(read_sentences(reply, VALUES[:2], (4, 25), 2))} == {"v1", "v2"}
    else:
        with pytest.raises(Fault) as caught:
            read_sentences(reply, VALUES[:2], (4, 25), 2)
        assert caught.value.code == code


def test_the_other_values_of_an_item_are_those_not_named():
    assert other_texts(an_item(), VALUES[:2]) == ["Dayton"]
    assert other_texts(an_item(), VALUES[2:]) == ["asthma", "tunnel miner"]
    assert other_texts(an_item(), ()) == ["asthma", "tunnel miner", "Dayton"]


def test_values_are_described_to_templates_in_json_values_only():
    asked_of_a_model = SimpleNamespace(bank=None, taxonomy=shipped_taxonomy())
    assert value_variables([value("asthma")], asked_of_a_model) == [
        {"id": "v1", "text": "asthma", "type": "health", "subtype": "", "subject": "self", "relevance": "high"}
    ]
