"""The subset of regular expressions that patterns are written in."""

from __future__ import annotations

import pytest

from piiloom.foundation.errors import ConfigError
from piiloom.taxonomy.entities.catalogue_file import longest, parse_pattern, positions, shortest
from tests.longer import case_by_case


@case_by_case(
    ("pattern", "least", "most", "places"),
    [
        (r"\d{11}", 11, 11, 11),
        (r"[A-Z]{2}\d{6,8}", 8, 10, 10),
        (r"(?:ab|c)?x", 1, 3, 4),
        (r"a|bcd", 1, 3, 4),
        (r"https?://[^ ]+", 8, None, 10),
        (r"(?:\d{3}[ \-]){2,3}\d", 9, 13, 13),
        ("身份证", 3, 3, 3),
        (r"[\p{Lu}\p{Ll}\]\-^]\\", 2, 2, 2),
    ],
)
def test_lengths(pattern: str, least: int, most: int | None, places: int) -> None:
    node = parse_pattern(pattern)
    assert (shortest(node), longest(node), positions(node)) == (least, most, places)


@case_by_case(
    ("pattern", "fault"),
    [
        ("a*", "'*' has no meaning here"),
        (".x", "'.' has no meaning here"),
        ("^a", "'^' has no meaning here"),
        ("a$", "'$' has no meaning here"),
        (r"\bword", r"\b is not known"),
        (r"\w+", r"\w is not known"),
        ("(a)", "a group is written"),
        ("(?=a)b", "a group is written"),
        (r"(a)\1", "a group is written"),
        ("(?:ab)+", "'+' stands after one character"),
        ("a{2}?", "a second quantifier"),
        ("a++", "a second quantifier"),
        ("a{0}", "repeats nothing"),
        ("a{5,2}", "is upside down"),
        ("a{1,9999}", "more than 2000 times"),
        ("a{,3}", "'{' has no meaning here"),
        ("[]", "the class is empty"),
        ("[a", "'[' is never closed"),
        ("[z-a]", "upside down"),
        ("[а-я]", "not of ASCII"),
        ("(?:a", "'(' is never closed"),
        ("a)", "')' closes nothing"),
        ("a?", "matches an empty text"),
        ("(?:a|b?)", "matches an empty text"),
        ("\\", "has nothing behind it"),
        ("(?:[a-z]{100}){100}", "10000 places"),
        ("a" * 5000, "has 5000 characters"),
        ("(?:" * 20 + "a" + ")" * 20, "nested too deeply"),
    ],
)
def test_faults(pattern: str, fault: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_pattern(pattern)
    assert fault in caught.value.message
