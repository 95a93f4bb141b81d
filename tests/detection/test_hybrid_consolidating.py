"""Candidates become disjoint spans, whatever their order; places, containment, short numbers."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.detection.detector import Sentences
from piiloom.detection.hybrid.phases import (
    MARGIN,
    ambiguities,
    by_context,
    by_cues,
    consolidated,
    group_places,
    is_short_number,
    merged_candidates,
    number_checks,
    of_match,
    settled,
)
from piiloom.patterns.resolving import disjoint
from tests.detection.small_catalogue import BY_ID, candidate, engine
from tests.longer import case_by_case

NAMES = sorted(BY_ID)
CANDIDATES = st.lists(
    st.builds(
        lambda start, length, name, score, who: candidate(start, start + length, name, score, detector=who),
        st.integers(0, 60),
        st.integers(1, 25),
        st.sampled_from(NAMES),
        st.sampled_from([0.4, 0.5, 0.6, 0.75, 0.9]),
        st.sampled_from(["patterns", "model"]),
    ),
    max_size=14,
)


def assert_disjoint(spans):
    assert all(one.end <= other.start for one, other in itertools.pairwise(spans))


@given(CANDIDATES, st.randoms(use_true_random=False))
def test_consolidation_is_disjoint_and_does_not_depend_on_order(candidates, rng: random.Random):
    shuffled = rng.sample(candidates, len(candidates))
    kept = consolidated(merged_candidates(candidates), 0.5)
    assert_disjoint(kept)
    assert kept == consolidated(merged_candidates(shuffled), 0.5)
    assert bool(kept) == any(one.score >= 0.5 for one in merged_candidates(candidates))


@given(CANDIDATES, st.randoms(use_true_random=False))
def test_places_hold_each_candidate_once_whatever_the_order(candidates, rng: random.Random):
    everything = merged_candidates(candidates)
    places = group_places(everything)
    shuffled = group_places(rng.sample(everything, len(everything)))
    assert sorted(places, key=lambda p: p.best.rank) == sorted(shuffled, key=lambda p: p.best.rank)
    assert len(settled(places, {})) == len(places) <= len(everything)
    for place in places:
        ids = [one.entity.id for one in place.candidates]
        assert len(set(ids)) == len(ids)
        assert place.best is place.candidates[0]
        assert all(one.score >= place.score - MARGIN for one in place.options)
        seed = min(place.candidates, key=lambda one: one.rank)
        assert all(min(one.end, seed.end) > max(one.start, seed.start) for one in place.candidates)


@given(st.text(st.sampled_from("0123456789 ab:"), max_size=80))
def test_candidates_are_chosen_as_matches_are(text):
    matches = engine().find(text)
    spans = [(one.start, one.end, one.entity.id) for one in disjoint(merged_candidates(map(of_match, matches)))]
    assert spans == [(one.start, one.end, one.entity.id) for one in disjoint(matches)]


@case_by_case(
    ("spans", "kept"),
    [
        ([(0, 20, "address"), (5, 11, "number_pair")], [(0, 20, "address")]),
        ([(0, 20, "address"), (0, 6, "pl_pesel")], [(0, 6, "pl_pesel")]),  # begin together: the higher priority
        ([(0, 20, "address"), (0, 6, "condition")], [(0, 20, "address")]),  # then the longer
        ([(0, 20, "condition"), (4, 15, "pl_pesel")], [(4, 15, "pl_pesel")]),  # no location, and the part is of a higher priority
        ([(0, 20, "account"), (4, 15, "pl_pesel")], [(0, 20, "account")]),  # structured itself, and the part is not clearly surer
        ([(0, 20, "condition"), (4, 15, "person_name")], [(0, 20, "condition")]),
        ([(0, 9, "person_name"), (0, 4, "person_name"), (5, 9, "person_name")], [(0, 9, "person_name")]),
        ([(0, 5, "pin"), (5, 9, "pin")], [(0, 5, "pin"), (5, 9, "pin")]),
    ],
)
def test_of_what_lies_within_something_else_one_stays(spans, kept):
    assert [(one.start, one.end, one.entity.id) for one in consolidated([candidate(*one) for one in spans], 0.5)] == kept


def test_of_two_that_overlap_in_part_the_surer_stays():
    weak, strong = candidate(0, 10, "address", 0.6), candidate(6, 14, "pl_pesel", 0.95)
    assert consolidated([weak, strong], 0.5) == [strong]


def test_finders_that_agree_are_surer_together():
    (one,) = merged_candidates(
        [candidate(0, 5, score=0.6, detector="model"), candidate(0, 5, score=0.5, detector="patterns", validated=True)]
    )
    assert (one.score, one.detector, one.validated) == (0.8, "model+patterns", True)
    (same,) = merged_candidates([candidate(0, 5, score=0.6), candidate(0, 5, score=0.5)])
    assert same.score == 0.6


def questions(text):
    sentences = Sentences(text)
    places = group_places(map(of_match, engine().find(text, floor=0.3)))
    return places, ambiguities(sentences, places, 0.5)


def test_a_place_with_several_types_is_a_question_with_its_sentence():
    text = "Dzień dobry. Podaję 44051401359 jako numer. Dziękuję."
    places, (question,) = questions(text)
    assert (question.before, question.value, question.after) == ("Podaję ", "44051401359", " jako numer. ")
    assert [one.entity.id for one in question.options] == ["pl_pesel", "account"]
    assert by_context(question) == "pl_pesel"  # no context word: the priority
    (winner,) = settled(places, {id(question.place): "account"})
    assert (winner.entity.id, winner.score, winner.others) == ("account", 0.7, ("pl_pesel",))
    assert winner.span().candidates == ("account", "pl_pesel")


def test_a_rule_goes_by_the_nearest_context_word_before_the_value_then_behind_it():
    for text, wanted in (
        ("Pesel nie, konto 44051401359.", "account"),
        ("Konto nie, pesel 44051401359.", "pl_pesel"),
        ("Tu 44051401359 to konto.", "account"),
        ("Mój kontopesel 44051401359 i konto.", "account"),
    ):
        place = group_places([candidate(text.index("4"), text.index("4") + 11, name, 0.7) for name in ("pl_pesel", "account")])
        (question,) = ambiguities(Sentences(text), place, 0.5)
        assert by_context(question) == wanted, text


def test_clear_places_are_no_questions():
    assert questions("pesel 44051401358")[1] == []  # the wrong check digit: it can only be an account
    assert questions("konto 44051401359, faktura")[1] == []  # the label has decided


@case_by_case(
    ("value", "name", "more", "short"),
    [
        ("34", "age", {}, True),
        ("34 lat", "age", {}, True),
        ("4821", "pin", {}, True),
        ("31-101", "city", {}, True),
        ("KR 1234", "account", {}, False),
        ("1234567", "account", {}, False),
        ("123456", "pl_pesel", {"validated": True}, False),
        ("4821", "pin", {"detector": "model+patterns"}, False),
        ("abc", "age", {}, False),
    ],
)
def test_what_is_a_short_number(value, name, more, short):
    assert is_short_number(value, candidate(0, len(value), name, **more)) is short


def test_a_short_number_is_checked_with_a_sentence_before_and_after():
    text = "Raz. Dwa. Mam 34 lat. Trzy. Cztery."
    (check,) = number_checks(Sentences(text), [candidate(14, 16, "age")])
    assert (check.before, check.value, check.after) == ("Dwa. Mam ", "34", " lat. Trzy. ")


@pytest.mark.parametrize(
    ("text", "confirmed"),
    [
        ("Wiek: 34.", True),
        ("Ona ma 34 lat.", True),
        ("Numer zamówienia 34.", False),
        ("Wiek podany, numer zamówienia 34.", False),
        ("Pokój 34.", False),
    ],
)
def test_a_rule_confirms_by_cue_words(text, confirmed):
    at = text.index("34")
    (check,) = number_checks(Sentences(text), [candidate(at, at + 2, "age")])
    assert by_cues(check, ("zamówieni", "faktur")) is confirmed
