"""Surrogates fit what surrounds them."""

from __future__ import annotations

from piiloom.surrogates.documents import Mention
from piiloom.surrogates.fitting import (
    ANY,
    CONSONANT,
    VOWEL,
    begins_sentence,
    genitive_follows,
    in_capitals,
    needed_sound,
    sounds,
    takes_genitive,
)
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled


@case_by_case(
    ("before", "language", "sound"),
    [
        ("She is an ", "en", VOWEL),
        ("An ", "en", VOWEL),
        ("a ", "en", CONSONANT),
        ("She has a ", "en", CONSONANT),
        ('a "', "en", CONSONANT),
        ("such an (", "en", VOWEL),
        ("an **", "en", VOWEL),
        ("(", "en", ANY),
        ("banana ", "en", ANY),
        ("an", "en", ANY),
        ("in ", "en", ANY),
        ("la ", "en", ANY),
        ("a ", "pt", ANY),
        ("", "en", ANY),
    ],
)
def test_what_an_article_asks_for(before, language, sound):
    assert needed_sound(before + "X", len(before), language) == sound


@case_by_case("value", ["Anna", "Iowa", "hour", "honest", "8", "11", "18", "80", "85-year-old", "Uma", "Understanding", "x-ray"])
def test_vowel_sounds(value):
    assert sounds(value, VOWEL)
    assert not sounds(value, CONSONANT)


@case_by_case("value", ["Ben", "university", "European", "one", "Utah", "10", "100", "7", "user", "Eugene", "Yara"])
def test_consonant_sounds(value):
    assert sounds(value, CONSONANT)
    assert not sounds(value, VOWEL)


@case_by_case(
    ("after", "follows"),
    [("'s car", True), ("s auto", True), ("’s.", True), (" s", False), ("sen", False), ("'sup", False), ("' ", False), ("", False)],
)
def test_genitives(after, follows):
    assert genitive_follows("N" + after, 1) is follows


def test_a_name_with_a_sibilant_takes_no_genitive():
    assert not takes_genitive("Max")
    assert takes_genitive("Anna")


@case_by_case(
    ("text", "capitals"),
    [
        ("CASE OF @ AGAINST THE STATE", True),
        ("Case of @ against", False),
        ("@", False),
        ("OK @", False),
        ("NAME: @\nnext line", False),
        ("JAN MET @\nnext line", True),
        ("12 @ 34", False),
    ],
)
def test_lines_in_capitals(text, capitals):
    at = text.index("@")
    assert in_capitals(text, [Mention(at, at + 1, "person")], 0) is capitals


@case_by_case(
    ("text", "begins"),
    [("@", True), ("a. @", True), ("a @", False), ("a.@", False), ('He said. "@', True), ("x\n@", True), ("x, @", False), ("  @", True)],
)
def test_beginnings_of_sentences(text, begins):
    assert begins_sentence(text, text.index("@")) is begins


def test_the_scheme_of_an_address_is_not_put_in_twice() -> None:
    for done in filled("See https://[URL], or [URL], or http://<URL>/map.", count=20):
        first, second, third = done.text.removesuffix("/map.").removeprefix("See ").split(", or ")
        assert first.count("://") == third.count("://") == 1
        assert second.count("://") <= 1  # "www.example.org"
