"""The words of dates are those of CLDR, which Babel reads (decision 0011 says why they are tables of ours all the same)."""

from __future__ import annotations

import pytest
from babel import Locale

from piiloom.pii_values.lexicons import listed
from piiloom.pii_values.rewriting.calendars import calendars, date_names, languages_for, meanings
from tests.longer import case_by_case

# Short forms of ours that CLDR writes otherwise: ambiguous ones ("mar" is March, too), and usage that CLDR does not follow.
OTHERWISE = {
    "pt": {"segunda", "terça", "quarta", "quinta", "sexta"},
    "fr": {"mardi"},
    "es": {"sep", "martes"},
    "it": {"martedì"},
    "sv": {"mar", "jun", "jul"},
    "no": {"tirs", "tors"},
}


def _words(names: dict[int, str], numbers: range) -> list[str]:
    return [names[number].rstrip(".") for number in numbers]


@case_by_case("language", calendars())
def test_months_and_weekdays_are_those_of_cldr(language):
    own, cldr = calendars()[language], Locale.parse(language)
    assert own.months == _words(cldr.months["format"]["wide"], range(1, 13))
    assert own.weekdays == _words(cldr.days["format"]["wide"], range(7))
    short_months = {tuple(_words(cldr.months[use]["abbreviated"], range(1, 13))) for use in ("format", "stand-alone")}
    short_days = {tuple(_words(cldr.days["format"][width], range(7))) for width in ("abbreviated", "short")}
    months, days = [forms[0] for forms in own.short_months], [forms[0] for forms in own.short_weekdays]
    other = min((set(months) - set(words) for words in short_months), key=len)
    other |= min((set(days) - set(words) for words in short_days), key=len)
    assert other == OTHERWISE.get(language, set())


@case_by_case("language", calendars())
def test_full_names_of_cldr_are_read(language):
    cldr, known = Locale.parse(language), meanings(language)
    for use in ("format", "stand-alone"):
        for number, word in cldr.months[use]["wide"].items():
            assert (known[word.casefold()].field, known[word.casefold()].number) == ("month", number)
        for number, word in cldr.days[use]["wide"].items():
            assert (known[word.casefold()].field, known[word.casefold()].number) == ("weekday", number + 1)


@case_by_case("language", date_names())
def test_months_and_weekdays_of_further_languages_are_those_of_cldr(language):
    cldr, known = Locale.parse(language), date_names()[language]
    for names, own, count in ((cldr.months, known.months, 12), (cldr.days, known.weekdays, 7)):
        numbers = range(1, 13) if count == 12 else range(7)
        told = [_words(names[use][width], numbers) for use in ("format", "stand-alone") for width in ("wide", "abbreviated")]
        assert all(form in told for form in own)
        assert told[0] in own or any(" " in word or "-" in word for word in told[0])
    assert languages_for(known.months[0][1].casefold(), language)[0] == language


@pytest.mark.parametrize("locale", ["en_US", "pt_BR", "sv_SE"])
def test_months_of_personas_texts_are_those_of_cldr(locale):
    assert list(listed("months", locale)) == _words(Locale.parse(locale).months["format"]["wide"], range(1, 13))
