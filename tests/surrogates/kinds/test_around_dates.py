"""Words of dates and times that name no day themselves, in the languages of the calendars."""

from __future__ import annotations

import re

from kind_draws import draw

from piiloom.pii_values.rewriting.calendars import calendars, in_month, of_month, tells_half, told_by_text, year_follows
from piiloom.surrogates.kinds.kind import KINDS
from tests.longer import case_by_case

NEAR = [
    "Tomorrow", "the day after tomorrow", "later tonight", "yesterday evening", "vandaag", "vanavond", "gisteravond", "eergisteren",
    "morgen ochtend", "heute", "heute Abend", "übermorgen", "jetzt", "aujourd’hui", "avant-hier", "cet après-midi", "demain matin",
    "anteayer", "anoche", "pasado mañana", "mañana por la mañana", "dopodomani", "l’altro ieri", "stasera", "domani mattina",
    "anteontem", "depois de amanhã", "hoje à noite", "i förrgår", "i övermorgon", "ikväll", "i går kväll", "i overmorgen", "i aften",
    "i kveld",
]  # fmt: skip


@case_by_case("original", NEAR)
def test_a_day_told_by_that_of_the_text_stays(original: str) -> None:
    assert KINDS["date"].draw(draw(1, "US", original=original)) == original
    assert KINDS["datetime"].draw(draw(1, "US", original=original)) == original


@case_by_case("original", ["tomorrow in May", "the 5th", "Montag", "hieraan", "morgens im Mai", ""])
def test_other_days_do_not(original: str) -> None:
    assert not told_by_text(original)


@case_by_case(
    "original",
    [
        "the 5th of this month", "the 5th of the coming month", "de 5e van de volgende maand", "den 5. des nächsten Monats",
        "le 5 du mois prochain", "le 5 de ce mois", "el día 5 del próximo mes", "el 5 del mes que viene", "il 5 del mese scorso",
        "dia 5 do mês que vem", "dia 5 deste mês", "den 5 i nästa månad", "den 5. i næste måned", "den 5. i neste måned",
    ],
)  # fmt: skip
def test_a_month_told_by_that_of_the_text(original: str) -> None:
    found = of_month(original)
    assert found is not None
    assert re.search(r"5\S*$", original[: found.start()])


def test_the_day_moves_and_the_month_stays() -> None:
    value = KINDS["date"].draw(draw(1, "NL", "nl", original="de 5e van de volgende maand", shift=10))
    assert re.fullmatch(r"de \d{1,2}s?t?e van de volgende maand", value)
    assert value != "de 5e van de volgende maand"


@case_by_case(
    "original",
    [
        "3 in the afternoon", "3 uur ’s middags", "3 Uhr nachmittags", "3 heures de l’après-midi", "3 de la tarde", "3 del pomeriggio",
        "3 da tarde", "klockan 3 på eftermiddagen",
    ],
)  # fmt: skip
def test_an_hour_stays_in_its_half_of_the_day(original: str) -> None:
    assert tells_half(original)
    values = {KINDS["time"].draw(draw(seed, "US", original=original)) for seed in range(20)}
    assert values == {original.replace("3", hour) for hour in "1245"}


def test_an_hour_of_24_needs_no_word_for_its_half() -> None:
    values = {KINDS["time"].draw(draw(seed, "NL", "nl", original="15 uur 's middags")) for seed in range(20)}
    assert all(value.endswith("uur 's middags") and not value.startswith("15") for value in values)


@case_by_case("text", [" 2012", "/2012", " negentien honderd", " neunzehnhundertachtzig", " duemilaquattro", " tjugohundratolv"])
def test_years_follow_in_digits_and_words(text: str) -> None:
    assert year_follows().match(text)


@case_by_case("language", calendars())
def test_every_language_has_words_around_dates(language: str) -> None:
    known = calendars()[language]
    assert known.near
    assert known.month_told["month"]
    assert known.articles
    assert in_month().search(f"{known.in_month[0]} ")
    assert all(word == word.casefold() for word in (*known.near, *known.parts, *known.articles))


_TOLD = (
    "this morning;last night;last year;next month;two days ago;3 weeks later;in two weeks;a year ago;the past three months;"
    "over the last 2 years;within 24 hours;two days;a few hours;every day;the same day;the following year;"
    "two weeks' time;several months earlier;half an hour;"
    "later that day;the day before;this past weekend;two-week;Two Days  Ago;hace dos días;la semana pasada;esta mañana;il y a deux jours;"
    "le mois dernier;l’année dernière;due giorni fa;la settimana scorsa;há dois dias;deze week;vorige maand;twee jaar geleden;letzte Woche;"
    "vor zwei Tagen;in drei Wochen;förra veckan;för två dagar sedan;om två veckor;sidste uge;for to dager siden"
).split(";")


@case_by_case("told", _TOLD)
def test_what_the_day_of_the_text_tells_stays_as_it_is(told: str) -> None:
    for kind in ("date", "datetime"):
        assert KINDS[kind].draw(draw(3, "US", "en", original=told)) == told


@case_by_case(
    "original", ["2 May", "March 2020", "Monday", "1999", "the summer of 1999", "12/05/2020", "last May", "20 years 1999", "ago. 2019"]
)
def test_a_date_is_not_told_by_the_text(original: str) -> None:
    assert not told_by_text(original)


def test_a_bare_day_of_this_month_becomes_another_day_of_it() -> None:
    found = {KINDS["date"].draw(draw(seed, "ES", "es", original="el 5 de este mes")._replace(shift=seed + 20)) for seed in range(30)}
    assert "el 5 de este mes" not in found
    assert all(re.fullmatch(r"el ([1-9]|1\d|2[0-8]) de este mes", one) for one in found)
