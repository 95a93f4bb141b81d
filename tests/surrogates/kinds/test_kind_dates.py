from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kind_draws import ANCHOR, COUNTRIES, LANGUAGES, draw, owned

from piiloom.pii_values.rewriting.calendars import calendars, date_order
from piiloom.pii_values.rewriting.date_layouts import read_date, write_date
from piiloom.pii_values.rewriting.date_shifts import draw_shift, kept_form, shifted_text, weekly_shift
from piiloom.surrogates.kinds.dates import _compiled
from piiloom.surrogates.kinds.kind import KINDS
from tests.longer import EXPLORE, case_by_case, sampled

EXAMPLES = [
    # text, language, order, days, the text so many days on
    ("12 maart 1998", "nl", "dmy", 30, "11 april 1998"),
    ("donderdag 12 maart 1998", "nl", "dmy", 1, "vrijdag 13 maart 1998"),
    ("1 mrt. 2004", "nl", "dmy", -1, "29 feb. 2004"),
    ("1ste kerstdag", "nl", "dmy", 1, None),
    ("3 de maart 2011", "nl", "dmy", 1, "4 de maart 2011"),
    ("2e maart 2011", "nl", "dmy", 8, "10e maart 2011"),
    ("março de 2011", "pt", "dmy", 61, "maio de 2011"),
    ("1º de março de 2011", "pt", "dmy", 1, "2 de março de 2011"),
    ("Primeiro de março de 2011", "pt", "dmy", 5, "6 de março de 2011"),
    ("terça-feira, 1 de março de 2011", "pt", "dmy", 1, "quarta-feira, 2 de março de 2011"),
    ("segunda-feira", "pt", "dmy", 5, "sábado"),
    ("segunda a sexta-feira", "pt", "dmy", 2, "quarta a domingo"),
    ("Monday to Friday", "en", "mdy", 2, "Wednesday to Sunday"),
    ("3rd June, 2.30pm", "en", "dmy", 3, "6th June, 2.30pm"),
    ("Oct 12, 1982", "en", "mdy", 30, "Nov 11, 1982"),
    ("OCTOBER 12, 1982", "en", "mdy", 30, "NOVEMBER 11, 1982"),
    ("10/12/1982", "en", "mdy", 30, "11/11/1982"),
    ("10/12/1982", "en", "dmy", 30, "09/01/1983"),
    ("10/30/1982", "en", "dmy", 3, "11/02/1982"),
    ("30/10/1982", "en", "mdy", 3, "2/11/1982"),
    ("08.03.19", "de", "dmy", 30, "07.04.19"),
    ("8. März 2019", "de", "dmy", 30, "7. April 2019"),
    ("3. Jänner 2019", "de", "dmy", 30, "2. Februar 2019"),
    ("2012-01-31", "en", "mdy", 1, "2012-02-01"),
    ("20120131", "en", "mdy", 1, "20120201"),
    ("'98", "en", "mdy", 364, "'99"),
    ("1998", "en", "mdy", -364, "1997"),
    ("July 4th", "en", "mdy", -3, "July 1st"),
    ("the 4th of July, 2010", "en", "mdy", 7, "the 11th of July, 2010"),
    ("Friday", "en", "mdy", 10, "Monday"),
    ("fri", "en", "mdy", 3, "mon"),
    ("early March", "en", "mdy", 62, "early May"),
    ("mid-March 2010", "en", "mdy", -60, "mid-January 2010"),
    ("10/82", "en", "mdy", 92, "1/83"),
    ("19-11", "nl", "dmy", 20, "09-12"),
    ("Q3 2020", "en", "mdy", 182, "Q1 2021"),
    ("the 1990s", "en", "mdy", 100, "the 1990s"),
    ("summer 2019", "en", "mdy", 91, "fall 2019"),
    ("le 1er mai 2001", "fr", "dmy", 4, "le 5 mai 2001"),
    ("5 mai 2001", "fr", "dmy", -4, "1er mai 2001"),
    ("14 juillet", "fr", "dmy", 31, "14 août"),
    ("12 de octubre de 2001", "es", "dmy", 30, "11 de noviembre de 2001"),
    ("12 ottobre 2001", "it", "dmy", 30, "11 novembre 2001"),
    ("den 12:e mars 2001", "sv", "ymd", 20, "den 1:a april 2001"),
    ("den 1:a april 2001", "sv", "ymd", 2, "den 3:e april 2001"),
    ("2012年3月4日", "zh", "ymd", 30, "2012年4月3日"),
    ("2012년 3월 4일", "ko", "ymd", 30, "2012년 4월 3일"),
    ("2010-05-03T10:30:00+02:00", "en", "mdy", 30, "2010-06-02T10:30:00+02:00"),
    ("3 May 2010 at 10:30 pm", "en", "dmy", 30, "2 June 2010 at 10:30 pm"),
    ("5/3/2010 14:05", "en", "mdy", 1, "5/4/2010 14:05"),
    ("12-14 March 2011", "en", "dmy", 1, "13-15 March 2011"),
    ("30 May - 2 June 2011", "en", "dmy", 3, "2 June - 5 June 2011"),
    ("2010/11", "en", "dmy", 364, "2011/12"),
    ("2010-2012", "en", "dmy", 364, "2011-2013"),
    ("January to March 2014", "en", "mdy", 61, "March to May 2014"),
    ("29 February 2012", "en", "dmy", 366, "1 March 2013"),
    ("February 29", "en", "mdy", 1, "March 1"),
    ("30 February 2012", "en", "dmy", 1, None),
    ("1/2/3/4", "en", "dmy", 1, None),
    ("yesterday", "en", "dmy", 1, None),
    ("120/80", "en", "mdy", 1, None),
    ("99", "en", "mdy", 1, None),
]


@case_by_case(("text", "language", "order", "days", "expected"), EXAMPLES)
def test_dates_move_and_are_written_as_before(text, language, order, days, expected):
    assert shifted_text(text, days, language, order, ANCHOR) == expected


@case_by_case(
    ("text", "days", "expected"),
    [
        ("March 3rd and 5th", 30, "March 5th and 7th"),
        ("WINTER 2018-19", -400, "WINTER 2017-18"),
        ("1420000000", 10, "1420864000"),
        ("1420000000123", -1, "1419913600123"),
        ("80er Jahre", 400, "80er Jahre"),
    ],
)
def test_what_is_no_date_keeps_its_form(text, days, expected):
    assert kept_form(text, days) == expected


@pytest.mark.parametrize("step", sampled(397, 13 if EXPLORE else 89))
@pytest.mark.parametrize("language", calendars())
def test_the_usual_formats_are_read_back(language, step):
    for country, precision in product(("US", "NL", "SE", "CN"), ("date", "birth", "numeric", "iso")):
        order = date_order(language, country)
        for writer, number in product(_compiled(precision, language, country), range(0, 16000, step)):
            day = date(1990, 1, 1) + timedelta(days=number)
            text = writer(day)
            layout = read_date(text, language, order, date(2030, 1, 1))
            assert layout is not None, text
            assert write_date(layout, layout.when) == text
            assert layout.when == day, text


days = st.dates(date(1930, 1, 1), date(2035, 12, 31))


@given(
    first=days,
    second=days,
    shift=st.integers(-364, 364),
    which=st.integers(0, 10**6),
    country=st.sampled_from(["US", "NL", "SE", "DE", "BR"]),
)
def test_days_between_dates_stay(first, second, shift, which, country):
    language = LANGUAGES.get(country, "en")
    order = date_order(language, country)
    forms = [form for form in _compiled("date", language, country) if "1999" in form(date(1999, 1, 1))]
    texts = [forms[which % len(forms)](day) for day in (first, second)]
    outs = [shifted_text(text, shift, language, order, ANCHOR) for text in texts]
    read = [read_date(out, language, order, ANCHOR) for out in outs if out]
    assert read[1].when - read[0].when == second - first
    assert read[0].when - first == timedelta(days=shift)


@given(text=st.text(max_size=90), shift=st.integers(-400, 400), language=st.sampled_from([*calendars(), "xx"]))
def test_no_text_raises(text, shift, language):
    found = shifted_text(text, shift, language, "dmy", ANCHOR)
    assert found is None or isinstance(found, str)


@given(text=st.text(alphabet="0123456789/-. 'stMay年月日:TZQ", max_size=24), shift=st.integers(-400, 400))
def test_no_text_that_looks_like_a_date_raises(text, shift):
    for order in ("dmy", "mdy", "ymd"):
        shifted_text(text, shift, "en", order, ANCHOR)


@given(seed=st.integers(0, 2**64 - 1))
def test_shifts_are_within_a_year_and_never_nothing(seed):
    assert 1 <= abs(draw_shift(seed)) <= 364
    assert 7 <= abs(weekly_shift(seed)) <= 364
    assert weekly_shift(seed) % 7 == 0


def test_weekly_shifts_keep_the_day_of_the_week():
    assert shifted_text("Friday, July 4, 2014", 14, "en", "mdy", ANCHOR) == "Friday, July 18, 2014"
    assert shifted_text("Friday", 14, "en", "mdy", ANCHOR) == "Friday"


def test_dates_without_an_original_lie_near_the_anchor_in_one_style_a_document():
    texts = [KINDS["date"].draw(draw(seed, "NL", shift=40)) for seed in range(40)]
    read = [read_date(text, "nl", "dmy", ANCHOR) for text in texts]
    assert all(layout and 0 <= (ANCHOR - layout.when).days < 900 for layout in read)
    assert len({re.sub(r"\w+", "x", text) for text in texts}) == 1


def test_documents_differ_in_style():
    assert (
        len({re.sub(r"[^\W\d_]+", "x", re.sub("[0-9]+", "0", KINDS["date"].draw(draw(1, "US", style=style)))) for style in range(60)}) >= 5
    )


@case_by_case("country", COUNTRIES)
def test_birth_dates_are_the_owners(country):
    for seed in range(60):
        drawn = owned(seed, country)
        layout = read_date(KINDS["birth_date"].draw(drawn), drawn.language, date_order(drawn.language, country), ANCHOR)
        assert layout is not None
        assert layout.when == drawn.owner.born
        assert KINDS["birth_year"].draw(drawn) == str(drawn.owner.born.year)
        assert KINDS["age"].draw(drawn) == str(drawn.owner.age)


def test_birth_dates_keep_the_way_of_the_original():
    drawn = owned(4, "NL", original="3 maart 1951")
    born = drawn.owner.born
    assert KINDS["birth_date"].draw(drawn).endswith(f" {born.year}")
    assert KINDS["birth_date"].draw(owned(4, "NL", original="1951-03-03")) == born.isoformat()


@case_by_case(
    ("original", "shape"),
    [
        ("3:45 pm", r"\d{1,2}:\d\d pm"),
        ("15:45", r"\d{1,2}:\d\d"),
        ("08:05", r"\d\d:\d\d"),
        ("14.30 uur", r"\d{1,2}\.\d\d uur"),
        ("7am", r"\d{1,2}am"),
        ("03:15:29 PM PST", r"(?:0[1-9]|1[0-2]):\d\d:\d\d PM PST"),
        ("10h30", r"\d{1,2}h\d\d"),
    ],
)
def test_times_keep_the_way_of_the_original(original, shape):
    for seed in range(50):
        value = KINDS["time"].draw(draw(seed, original=original))
        assert re.fullmatch(shape, value), value
        assert value != original


def test_durations_keep_their_unit():
    for seed in range(40):
        assert re.fullmatch(r"\d+ weeks", KINDS["duration"].draw(draw(seed, original="6 weeks")))
        assert KINDS["duration"].draw(draw(seed, original="drie maanden", country="NL", language="nl")).endswith(" maanden")


@given(age=st.integers(0, 120), seed=st.integers(0, 10**6))
def test_ages_stay_in_their_ten_years(age, seed):
    new = int(KINDS["age"].draw(draw(seed, original=str(age))))
    assert new != age
    assert (new > 89) == (age > 89)
    assert abs(new - age) <= 3
    if age <= 89:
        assert new // 10 == age // 10


def test_ages_keep_their_shape():
    assert re.fullmatch(r"7[0-9]-year-old", KINDS["age"].draw(draw(1, original="77-year-old")))
    assert re.fullmatch(r"seventy-\w+", KINDS["age"].draw(draw(1, original="seventy-seven")))
    assert KINDS["age"].draw(owned(1, "US", original="(54)")) == f"({owned(1, 'US').owner.age})"
    assert "zeventig" in KINDS["age"].draw(draw(2, "NL", "nl", original="zevenenzeventig jaar"))
