"""Lists of short phrases: what is kept, what is dropped and why."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.foundation.words import count_words
from piiloom.generation.stages.topics import Distinct, clean_list, normalised
from tests.longer import case_by_case

phrases = st.lists(st.sampled_from(["night", "shift", "Shifts", "school-fees", "rent", "gym", "  ", "é", "the"]), max_size=5).map(" ".join)


@case_by_case(
    ("earlier", "later", "code"),
    [
        ("night shifts", "night shifts", "duplicate_exact"),
        ("night shifts", "Night   shifts!", "duplicate_normalised"),
        ("night shifts", "night-shifts", "duplicate_normalised"),
        ("night shifts", "night shift", "duplicate_near"),
        ("night shifts", "shifts night", "duplicate_near"),
        ("school fees", "school trips", None),
        ("sick pay", "sick leave", None),
        ("location", "relocation", None),
        ("first jobs", "first homes", None),
    ],
)
def test_a_repeat_is_told_by_its_kind(earlier, later, code):
    seen = Distinct()
    assert seen.add(earlier) is None
    assert seen.add(later) == code


def test_a_banned_phrase_counts_as_seen():
    seen = Distinct(["Occupation"])
    assert seen.add("occupation") == "duplicate_normalised"
    assert seen.add("occupations") == "duplicate_near"


def test_a_dropped_phrase_bans_nothing():
    seen = Distinct()
    seen.add("abcd efgh ijkl")
    assert seen.add("abcd efgh ijkm") == "duplicate_near"
    # Near to the dropped one, but no longer to the kept one.
    assert seen.add("abcx efgh ijxm") is None


def test_a_list_is_cleaned_in_order_with_a_code_for_each_drop():
    entries = ["Night shifts", "a list of four words", "", "night shift", "  sick   pay ", "gym fees", "rent"]
    cleaned = clean_list(entries, at_most=3, banned=("health",))
    assert cleaned.kept == ("Night shifts", "sick pay", "gym fees")
    assert [(drop.phrase, drop.code) for drop in cleaned.dropped] == [
        ("a list of four words", "wrong_length"),
        ("", "wrong_length"),
        ("night shift", "duplicate_near"),
        ("rent", "too_many"),
    ]


@given(st.lists(phrases, max_size=12), st.integers(0, 6), st.lists(phrases, max_size=2))
@settings(deadline=None)
def test_every_entry_is_kept_or_dropped_once(entries, at_most, banned):
    cleaned = clean_list(entries, at_most=at_most, banned=banned)
    assert len(cleaned.kept) + len(cleaned.dropped) == len(entries)
    assert len(cleaned.kept) <= at_most
    assert all(1 <= count_words(phrase) <= 3 for phrase in cleaned.kept)
    folded = [normalised(phrase) for phrase in cleaned.kept]
    assert len(set(folded)) == len(folded)
    assert not {normalised(phrase) for phrase in banned} & set(folded)
    # What was kept is kept again, and nothing of it is dropped.
    assert clean_list(cleaned.kept, at_most=at_most).kept == cleaned.kept
