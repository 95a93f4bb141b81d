"""The grammars as data: each finds its own examples and lets pass what it must not match."""

from __future__ import annotations

import pytest

from piiloom.foundation.errors import UsageError
from piiloom.surrogates.placeholders import Finder
from piiloom.surrogates.placeholders.grammar import PARTS, grammars, grammars_file
from piiloom.surrogates.placeholders.scanning import Scanner, TagCandidate
from tests.longer import case_by_case

_DATA = grammars_file()
_ENTRIES = [*_DATA.signs, *_DATA.runs, *_DATA.words]
SCANNER = Scanner()


def candidates(text: str) -> list[TagCandidate]:
    return list(SCANNER.scan(text))


def test_an_example_is_a_candidate_of_its_grammar() -> None:
    """A part of a mask is of the grammar of the whole."""
    for name, text in [(entry.name, text) for entry in _ENTRIES for text in entry.examples]:
        found = candidates(text)
        if name in PARTS:
            assert [(one.start, one.end, one.grammar.name[:6]) for one in found] == [(0, len(text), "masked")], text
        else:
            assert [one.grammar.name for one in found] == [name], text


def test_what_a_grammar_must_not_match_makes_no_mention() -> None:
    for text in [text for entry in _ENTRIES for text in entry.never]:
        assert Finder().find(text).mentions == [], text
        assert Finder().find(f"so {text} it is").mentions == [], text


def test_names_are_unique_and_all_are_compiled() -> None:
    assert len(grammars()) == len(_ENTRIES)


def test_an_unknown_grammar_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown grammar 'sqare'"):
        Scanner(("sqare",))


def test_only_the_grammars_named_are_looked_for() -> None:
    text = "[NAME] met <NAME> and {{NAME}}"
    assert [c.literal for c in Scanner(("angle",)).scan(text)] == ["<NAME>"]
    assert [c.literal for c in Scanner(("square", "double_curly")).scan(text)] == ["[NAME]", "{{NAME}}"]


@case_by_case(
    ("text", "literal"),
    [
        ("[[NAME]", "[NAME]"),
        ("[NAME]]", "[NAME]"),
        ("<<NAME>", "<NAME>"),
        ("<NAME>>", "<NAME>"),
        ("[<NAME>]", "<NAME>"),
        ("[**[NAME]**]", "[NAME]"),
        ("[ [CITY] ", "[CITY]"),
        ("<b [NAME]", "[NAME]"),
        ("{{ {NAME} }", "{NAME}"),
        ("((AGE)", "(AGE)"),
    ],
)
def test_of_nested_and_broken_ones_the_innermost_complete_one_counts(text: str, literal: str) -> None:
    assert [candidate.literal for candidate in candidates(text)] == [literal]


@case_by_case("text", ["<NAME", "[NAME", "NAME]", "[[NAME", "{{NAME}", "[**NAME", "<<NAME:Jo"])
def test_what_is_not_closed_is_no_mention(text: str) -> None:
    assert [m for m in Finder().find(f"It was {text} who came").mentions if m.end - m.start > len("{NAME}")] == []


def test_titles_keep_their_place_and_letters_are_replaced() -> None:
    text = "Seen by Dr. X and Y, then Ms. ABC. Doctor A few days later saw Dr. J. Smith. Doctor. I am ill, said Mr. T-bone."
    assert [text[c.start : c.end] for c in candidates(text) if c.grammar.name == "titled"] == ["X", "Y", "ABC"]


def test_letters_that_are_spelled_out_are_one_candidate() -> None:
    text = "I saw Doctor X Y Z at A B C D General Hospital, A B C A B C and the C P A P."
    assert [text[c.start : c.end] for c in candidates(text)] == ["X Y Z", "A B C D", "A B C A B C"]
