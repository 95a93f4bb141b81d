"""Patterns of values: what they give is what the same regular expression takes, and what is no pattern is told by its place."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.seeding import derive_rng
from piiloom.taxonomy.value_patterns import ValueGenerator, draw_own_value, number_check, read_value_pattern, value_fault
from tests.longer import case_by_case


@case_by_case(
    "pattern",
    [
        "AB-[0-9]{6}",
        r"\d{2}\.\d{2}",
        "(north|south|mid(dle|way)) gate [1-9]",
        "[A-Za-z_-]{1,3}[.]?X",
        "([A-F][0-9]){2,4}",
        "(a|b)?c",
        r"\(x\)",
        "[é-ë]{2}",
    ],
)
def test_what_is_drawn_is_what_the_regular_expression_takes(pattern):
    found = read_value_pattern(pattern)
    rng = derive_rng("test", pattern)
    drawn = [found.draw(rng) for _ in range(200)]
    assert all(re.fullmatch(pattern, text) for text in drawn)
    assert max(map(len, drawn)) <= found.longest
    assert drawn == [found.draw(again) for again in [derive_rng("test", pattern)] for _ in range(200)]


@pytest.mark.parametrize(
    ("pattern", "count"), [("[ab]{2}", 4), ("(x|yy)[0-9]?", 22), ("[ab]{1,2}", 6), (r"\d{3}", 1000), ("k(a|b(c|d))", 3)]
)
def test_the_count_is_the_number_of_values(pattern, count):
    found = read_value_pattern(pattern)
    assert found.count == count
    rng = derive_rng("test", pattern)
    assert len(Counter(found.draw(rng) for _ in range(count * 30))) == count


@case_by_case(
    ("pattern", "told"),
    [
        ("AB*", "character 3 of the pattern: '*' has no end"),
        ("A+", "'+' has no end"),
        ("[0-9", "character 1 of the pattern: '[' is never closed"),
        ("x[]", "the class is empty"),
        ("[^a]", "a class lists"),
        ("[9-0]", "upside down"),
        ("(a|b", "character 1 of the pattern: '(' is never closed"),
        ("a|b", "a choice needs round brackets"),
        ("a)", "')' closes nothing"),
        ("a{2", "say how many times"),
        ("a{3,1}", "say how many times"),
        ("a{0}", "say how many times"),
        (r"\w", "there is \\d for a digit"),
        ("a\\", "a backslash has nothing behind it"),
        ("a.", "'.' has no meaning here"),
        ("", "the pattern is empty"),
        ("[0-9]{81}", "81 characters"),
        ("(" * 9 + "a" + ")" * 9, "nested too deeply"),
        ("{2}", "has no meaning here"),
        ("?a", "has no meaning here"),
    ],
)
def test_what_is_no_pattern_is_told_by_its_place(pattern, told):
    with pytest.raises(ConfigError) as caught:
        read_value_pattern(pattern)
    assert told in caught.value.message


@pytest.mark.parametrize(
    ("check", "pattern"),
    [("luhn", "4[0-9]{15}"), ("iban", "DE[0-9]{20}"), ("verhoeff", "[0-9]{8}"), ("de.idnr", "[1-9][0-9]{10}"), ("isbn", "978[0-9]{10}")],
)
def test_check_digits_are_those_of_stdnum(check, pattern):
    generator = ValueGenerator(kind="pattern", pattern=pattern, check=check)
    rng = derive_rng("test", check)
    drawn = [draw_own_value(generator, rng) for _ in range(5)]
    assert all(number_check(check)(text) for text in drawn)
    assert len(set(drawn)) == 5


@case_by_case("module", ["nope", "os", "../luhn", "luhn; import os", "", "iso7064"])
def test_only_modules_of_stdnum_check(module):
    with pytest.raises(ConfigError, match="python-stdnum has no module"):
        number_check(module)


def test_a_pattern_that_no_check_digits_fit_says_so():
    with pytest.raises(ConfigError, match="none of 20,000 values"):
        draw_own_value(ValueGenerator(kind="pattern", pattern="[0-9]{3}x", check="iban"), derive_rng("test"))


@case_by_case("text", ["", " ", " a", "[x]", "a|b", 'say "x"', "a\tb", "one two three four five six seven eight nine", "x" * 81, "etc."])
def test_what_can_be_no_value(text):
    assert value_fault(text)


@pytest.mark.parametrize("text", ["greyhound", "AB-123456", "$218,200", "señora Peña", "o'neill's cat"])
def test_what_can_be_a_value(text):
    assert value_fault(text) is None
