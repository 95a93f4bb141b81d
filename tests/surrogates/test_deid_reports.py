"""Reports that De-ID redacted: names as codes ("**NAME[AAA, BBB]"), shifted dates, ages as ranges, bare tags with two stars."""

from __future__ import annotations

import re
from datetime import date, datetime

import pytest

from piiloom.surrogates.kinds.amounts import middle_of_range
from tests.longer import case_by_case
from tests.surrogates.kinds.kind_draws import draw
from tests.surrogates.persons_filled import filled

_REPORT = (
    "Patient **NAME[AAA, BBB] was seen on **DATE[Jan 05 2008] at **INSTITUTION by Dr. **NAME[ZZZ M YYY]. Phone **PHONE, **EMAIL.\n"
    "Mrs. **NAME[AAA] is **AGE[in 60s], from **PLACE **ZIP-CODE. Her daughter **NAME[CCC AAA] came on **DATE[Jan 15 2008].\n"
    "Signed: **NAME[YYY], **DATE[Jan 16 2008], **PATH-NUMBER"
)
_FILLED = re.compile(
    r"Patient (?P<family>[^,]+), (?P<given>.+) was seen on (?P<first>.+) at .+ by Dr\. (?P<doctor>.+) [A-Z] (?P<surname>.+)\. "
    r"Phone .+, \S+@\S+\.\n"
    r"Mrs\. (?P<again>.+) is (?P<age>\d+), from .+\. Her daughter (?P<child>.+) (?P<hers>\S+) came on (?P<second>.+)\.\n"
    r"Signed: (?P<signed>.+), (?P<third>[A-Z][a-z]+ \d+,? \d+), .+"
)


def test_codes_are_people_ranges_are_ages_and_dates_keep_their_distance() -> None:
    ages = set()
    for done in filled(_REPORT, count=20):
        told = _FILLED.fullmatch(done.text)
        assert told is not None, done.text
        assert told["again"] == told["family"]
        assert told["signed"] == told["surname"]
        assert len({told["given"], told["doctor"], told["child"]}) == 3
        assert told["family"] != told["family"].upper()
        days = [datetime.strptime(told[name] + " +0000", "%b %d %Y %z").date() for name in ("first", "second", "third")]
        assert [(day - days[0]).days for day in days] == [0, 10, 11]
        assert days[0] != date(2008, 1, 5)
        ages.add(int(told["age"]))
    assert ages <= set(range(60, 70))
    assert len(ages) > 3


@pytest.mark.parametrize(
    ("told", "low", "high"), [("in 60s", 60, 69), ("in teens", 13, 19), ("birth-12", 0, 12), ("90+", 90, 120), ("30's", 30, 39)]
)
def test_a_range_becomes_an_age_in_it(told: str, low: int, high: int) -> None:
    from piiloom.surrogates.kinds.kind import KINDS

    ages = {int(KINDS["age"].draw(draw(seed, original=told))) for seed in range(200)}
    assert ages <= set(range(low, high + 1))
    assert len(ages) > 3


@pytest.mark.parametrize("told", ["60", "sixty", "in 1960", "60 years"])
def test_an_age_is_no_range(told: str) -> None:
    assert middle_of_range(told) is None


@case_by_case(
    "text", ["**DATE:** 5 May", "**PLACE of work**: home", "**NOTE this**", "2**N bytes", "f(**KWARGS)", "***NOTE*** and **", "**KEY[0]"]
)
def test_bold_words_and_programs_are_left_alone(text: str) -> None:
    assert filled(f"We read it twice. {text} and then it was late.")[0].placed == []
