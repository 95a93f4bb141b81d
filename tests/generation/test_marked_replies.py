"""What text stages check in a reply: marks, values, length, voice, one sentence."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.marks import mark
from foundation.words import count_words
from generation.asking import Fault
from generation.item import ItemValue
from generation.texts import check_first_person, check_length, check_one_sentence, read_marked, value_variables
from tests.generation.scripted_provider import VALUES, surfaces

FILLING = ["\u00e9t\u00e9", "👩‍🚀", "e\u0301", "שלום", "\r\n", "\u200b", "𝔘", ".", "river", "I"]
fillings = st.lists(st.one_of(st.sampled_from(FILLING), st.text(alphabet=st.characters(exclude_characters="[]|"), max_size=5)), max_size=6)


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


@pytest.mark.parametrize(
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
@settings(deadline=None, max_examples=150)
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


@pytest.mark.parametrize("text", ["I froze.", "It is mine.", "My boss left.", "They saw us.", "I'm late.", "Tell me, our van broke."])
def test_the_first_person_is_heard(text):
    assert check_first_person(text, "en") is None


@pytest.mark.parametrize("text", ["She froze.", "Yesterday it rained.", "A mime in the museum.", ""])
def test_a_text_about_others_is_refused_in_english_only(text):
    with pytest.raises(Fault, match="must speak as I"):
        check_first_person(text, "en")
    assert check_first_person(text, "de") is None


@pytest.mark.parametrize(
    "text",
    [
        "I froze halfway up.",
        "I see Dr. Osei and Mrs. Lund at St. Brendan each week.",
        "I paid $3.50 at 7:45 p.m. for a pie.",
        'She said "no" and I left.',
        "I work for J. R. Hartwell now.",
        "I asked (twice!) and got nothing.",
    ],
)
def test_one_sentence_is_one_whatever_its_stops(text):
    assert check_one_sentence(text) is None


@pytest.mark.parametrize(
    "text", ["I froze. Then I fell.", 'I froze! "Help," I said.', "Am I late? I am.", "I froze\nand fell.", 'He left." I froze.']
)
def test_two_sentences_are_refused(text):
    with pytest.raises(Fault) as caught:
        check_one_sentence(text)
    assert caught.value.code == "several_sentences"


def test_values_are_described_to_templates_in_json_values_only():
    assert value_variables([value("asthma")]) == [
        {"id": "v1", "text": "asthma", "type": "health", "subtype": "", "subject": "self", "relevance": "high"}
    ]
