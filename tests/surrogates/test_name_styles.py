"""Titles before a name, which call for the family name."""

from __future__ import annotations

import pytest

from piiloom.surrogates.casting import titled
from tests.longer import case_by_case


@case_by_case(
    "text",
    [
        "Dr. @", "seen by (Mrs. @", "de heer @", "Mademoiselle @", "M. @", "la señora @", "Docteur @", "Frau Doktor @",
        "la doctora @", "il dottor @",
        "la dottoressa @", "Fräulein @",
    ],
)  # fmt: skip
def test_a_title_comes_right_before_a_name(text: str) -> None:
    assert titled(text, text.index("@"))


@pytest.mark.parametrize("text", ["@", "Dr.@", "the doctrine @", "m. @", "Mr. Jo @"])
def test_other_words_are_no_title(text: str) -> None:
    assert not titled(text, text.index("@"))
