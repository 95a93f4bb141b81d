from __future__ import annotations

import random
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.words import words
from piiloom.taxonomy.grammar import MAX_DEPTH, Slot, Text, all_expansions, combinations, count_range, expand, expansion, parse, slot_counts
from tests.longer import case_by_case

TEXTS = st.text(alphabet="ab 'x’,.-é", max_size=6)
SLOTS = st.sampled_from(["{health}", "{a:health}", "{A:sexual_orientation}"])
LEAVES = st.one_of(TEXTS, SLOTS)


def choices(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    options = st.lists(st.lists(inner, max_size=2).map("".join), min_size=1, max_size=3).filter(any)
    return options.map(lambda found: f"<{'|'.join(found)}>")


PATTERNS = st.lists(st.recursive(LEAVES, choices, max_leaves=6), min_size=1, max_size=4).map("".join).filter(str.strip)


def tame(pattern: str) -> bool:
    return combinations(pattern) <= 3000


@given(PATTERNS.filter(tame), st.integers())
def test_every_expansion_is_among_all_of_them(pattern: str, seed: int) -> None:
    found = all_expansions(pattern, 3000)
    assert expand(pattern, random.Random(seed)) in found
    assert 1 <= len(found) <= combinations(pattern)
    assert all("|" not in text and text.count("<") == text.count(">") for text in found)


@given(PATTERNS.filter(tame))
def test_the_range_of_fixed_words_is_exact(pattern: str) -> None:
    """Counted independently: a slot is put in as a letter of its own, and words that begin with that letter are not counted."""
    counts = []
    for text in all_expansions(pattern, 3000):
        filled = re.sub(r"\{[^}]*\}", "Ω", text)
        counts.append(sum(not word.startswith("Ω") for word in words(filled)) + len(re.findall(r"\{[aA]:", text)))
    assert count_range(pattern) == (min(counts), max(counts))


@given(PATTERNS.filter(tame))
def test_slots_are_counted_as_they_stand_in_expansions(pattern: str) -> None:
    texts = all_expansions(pattern, 3000)
    for name, (low, high) in slot_counts(pattern).items():
        uses = [text.count(f"{name}}}") for text in texts]
        assert (min(uses), max(uses)) == (low, high)


@given(PATTERNS, st.sampled_from("<>{}"))
def test_a_bracket_without_partner_is_refused(pattern: str, bracket: str) -> None:
    with pytest.raises(ConfigError):
        parse(pattern + bracket)
    with pytest.raises(ConfigError):
        parse(bracket + pattern)


@given(st.text(alphabet="<|>{}a: [", max_size=12))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        parse(text)
    except ConfigError:
        return
    assert text.count("<") == text.count(">")
    assert expansion(text, 0) is not None


@case_by_case(
    "pattern",
    [
        "",
        "   ",
        "a|b",
        "<a|b",
        "a>b",
        "<>",
        "<|>",
        "{}",
        "{Health}",
        "{b:health}",
        "{health",
        "a}",
        "[[v1|x]]",
        "{a: health}",
        "{{health}}",
    ],
)
def test_malformed_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(ConfigError):
        parse(pattern)


def test_nesting_has_a_limit() -> None:
    assert combinations("<" * (MAX_DEPTH - 1) + "a" + ">" * (MAX_DEPTH - 1)) == 1
    with pytest.raises(ConfigError, match="deeper"):
        parse("<" * 5000 + "a" + ">" * 5000)


def test_expansions_come_in_reading_order_with_slots_left_in_place() -> None:
    pattern = "<A|B> {a:health} <x|<y|z>>"
    assert all_expansions(pattern, 10) == tuple(f"{a} {{a:health}} {b}" for a in "AB" for b in "xyz")
    assert all_expansions(pattern, 2) == ("A {a:health} x", "A {a:health} y")
    assert combinations(pattern) == 6
    with pytest.raises(IndexError):
        expansion(pattern, 6)


def test_every_expansion_is_as_likely_however_alternatives_nest() -> None:
    rng = random.Random(7)
    counts = Counter(expand("<a|<b|c|<d|e>>>", rng) for _ in range(5000))
    assert set(counts) == set("abcde")
    assert all(850 < count < 1150 for count in counts.values())


def test_empty_alternatives_leave_no_blanks_behind() -> None:
    assert all_expansions("<Well, |>I froze <badly|>, <then|> left <home|>.", 3)[-1] == "Well, I froze badly, left home."
    assert "I froze, left." in all_expansions("<Well, |>I froze <badly|>, <then|> left <home|>.", 20)
    assert all_expansions("a < |b> c", 5) == ("a c", "a b c")


def test_angle_brackets_without_alternatives_stand_as_they_are() -> None:
    assert all_expansions("From: {name} <{mail}>", 3) == ("From: {name} <{mail}>",)
    assert all_expansions("<<ann|bo>> hi", 3) == ("<ann> hi", "<bo> hi")
    assert combinations("<{a:health}>") == 1


@case_by_case(
    ("pattern", "counts"),
    [
        ("one two", (2, 2)),
        ("{a:health} one {health}", (2, 2)),
        ("un<do|tie> it<|'s late>", (2, 3)),
        ("{health}'s end", (1, 1)),
        ("<I'm|I am> {age}, <|quite> fine", (2, 4)),
        ("don<'|>t", (1, 1)),
    ],
)
def test_fixed_words_are_counted_across_alternatives(pattern: str, counts: tuple[int, int]) -> None:
    assert count_range(pattern) == counts


def test_the_tree_tells_texts_slots_and_choices_apart() -> None:
    tree = parse("Hi {A:sexual_orientation}<a|b>")
    assert tree.parts[:2] == (Text("Hi "), Slot("sexual_orientation", "A"))
    assert tree.total == 2
    assert parse("Hi {A:sexual_orientation}<a|b>") is tree


def test_lines_of_quoted_mail_and_line_breaks_stay():
    assert all_expansions("Hi,\n\n> she <really |>said\n> so\n\nBye", 9) == (
        "Hi,\n\n> she really said\n> so\n\nBye",
        "Hi,\n\n> she said\n> so\n\nBye",
    )
