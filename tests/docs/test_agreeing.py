"""What counts as the output that a page shows."""

from __future__ import annotations

import pytest

from tests.docs.pages import Block, agrees, renewed
from tests.longer import case_by_case


@case_by_case(
    ("shown", "printed"),
    [
        ("3 records", "3 records\n"),
        ("accepted in 9.8 s", "accepted in 12.41 s"),
        ("a long\nline that was wrapped", "a long line that\nwas wrapped"),
        ("first\n…\nlast", "first\nsecond\nthird\nlast\n"),
        ("sha af2f…", "sha af2ff629"),
        ("one (x) [y]\n  …", "one (x) [y]\n  two\n"),
        ("", "\n"),
        ("run r0001-… finished", "run r0001-4689e37e finished"),
        ("it costs $…. Go on", "it costs $0.25. Go on"),
        ("0730ef  5 (3 high)   …\n8fd864  4", "0730ef  5 (3 high)   its been four weeks\n8fd864  4"),
    ],
)
def test_output_that_a_page_shows(shown, printed):
    assert agrees(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("3 records", "4 records"),
        ("first\n…\nlast", "first\nsecond"),
        ("3 records", "3 records and more"),
        ("run r0001-… finished\n  cost", "run r0001-4689e37e finished\n  rejected 6\n  cost"),
        ("run r0001-… cost", "run r0001-4689e37e finished\n  cost"),
    ],
)
def test_output_that_it_does_not(shown, printed):
    assert not agrees(shown, printed)


def test_commands_are_told_from_what_they_print():
    block = Block(
        line=10, kind="console", note="", text='$ for n in 1 2; do\n>   echo $n\n> done\n1\n2\n$ python -c "\nprint(3)"\n3\n$ true\n'
    )
    assert [(one.line, one.text, one.shown) for one in block.commands()] == [
        (11, "for n in 1 2; do\n  echo $n\ndone", "1\n2"),
        (16, 'python -c "\nprint(3)"', "3"),
        (19, "true", ""),
    ]


def test_a_page_that_shows_parts_gets_the_same_parts_anew():
    shown = ["run r0001-… finished", "…", "┃ a ┃ 1 ┃", "┃ bee ┃ 20 ┃", "…", "done in 3 s", "…"]
    printed = "run r0001-abc finished\nlong\n┃ a ┃ 31 ┃\n┃ bee ┃ 2,000 ┃\n┃ c ┃ 1 ┃\ndone in 4 s\nmore\n"
    assert renewed(shown, printed) == ["run r0001-… finished", "…", "┃ a ┃ 31 ┃", "┃ bee ┃ 2,000 ┃", "…", "done in 4 s", "…"]
    assert renewed(["2 records"], "3 records") == ["3 records"]


def test_a_line_that_a_page_lacks_is_put_in_and_a_name_that_it_leaves_open_stays_open():
    shown = ["run r0001-… finished: 20 records", "  cost      none", "  next      piiloom"]
    printed = "run r0001-4689e37e finished: 20 records\n  rejected  6\n  cost      none\n  next      piiloom"
    assert renewed(shown, printed) == ["run r0001-… finished: 20 records", "  rejected  6", "  cost      none", "  next      piiloom"]
