"""Dates of which a text shows a part, and known dates in any writing: what is visible stays, and nothing becomes an unrelated date."""

from __future__ import annotations

import re
from datetime import date

import pytest

from piiloom.pii_values.rewriting.calendars import calendar_of, date_order
from piiloom.pii_values.rewriting.date_layouts import read_date
from piiloom.pii_values.rewriting.date_shifts import shifted_text
from piiloom.surrogates.kinds.kind import KINDS, Draw
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled, filled_spans, words

BORN = {
    "en_US": ("DOB: {} in Ohio.", "Patient [NAME] (DOB: {})"),
    "nl_NL": ("Geboren op {} te Delft.", "Patiënt [NAAM], geboren op {}"),
    "de_DE": ("Geboren am {} in Köln.", "Patient [NAME], geboren am {}"),
    "es_ES": ("Fecha de nacimiento: {} en Lugo.", "Paciente [NOMBRE], nacida el {}"),
    "fr_FR": ("Né le {} à Nancy.", "Patiente [NOM], née le {}"),
    "it_IT": ("Nata il {} a Bari.", "Paziente [NOME], nata il {}"),
    "pt_PT": ("Data de nascimento: {} em Faro.", "Doente [NOME], nascida a {}"),
    "sv_SE": ("Född den {} i Lund.", "Patient [NAMN], född {}"),
}
MASKS = [
    # what stands there, and what may replace it
    ("XX/XX/1984", r"\d\d/\d\d/1984"),
    ("xx/xx/1984", r"\d\d/\d\d/1984"),
    ("XX.XX.1984", r"\d\d\.\d\d\.1984"),
    ("XX-XX-1984", r"\d\d-\d\d-1984"),
    ("**/**/1984", r"\d\d/\d\d/1984"),
    ("**.**.1984", r"\d\d\.\d\d\.1984"),
    ("__/__/1984", r"\d\d/\d\d/1984"),
    ("??/??/1984", r"\d\d/\d\d/1984"),
    ("##/##/1984", r"\d\d/\d\d/1984"),
    ("1984-XX-XX", r"1984-(?:0\d|1[0-2])-[0-3]\d"),
    ("1984/XX/XX", r"1984/(?:0\d|1[0-2])/[0-3]\d"),
    ("1984-**-**", r"1984-(?:0\d|1[0-2])-[0-3]\d"),
    ("XX.XX.84", r"\d\d\.\d\d\.84"),
    ("XX/1984", r"(?:0[1-9]|1[0-2])/1984"),
    ("XX. XX. 1984", r"\d\d\. \d\d\. 1984"),
    ("XX XXX 1984", r"\d\d \w{3,5} 1984"),
    ("02/XX/1984", r"02/(?:0[1-9]|1\d|2\d)/1984"),
    ("XX/31/1984", r"(?:01|03|05|07|08|10|12)/31/1984"),
    ("March XX, 1984", r"March [1-3]?\d, 1984"),
    ("XX March 1984", r"[1-3]?\d March 1984"),
    ("XX de marzo de 1984", r"[1-3]?\d de marzo de 1984"),
    ("XX. März 1984", r"[1-3]?\d\. März 1984"),
    ("March ___, 1984", r"March [1-3]?\d, 1984"),
]


@case_by_case("locale", BORN)
def test_a_masked_birth_date_keeps_what_it_shows(locale):
    for sentence in BORN[locale]:
        for mask, shape in MASKS:
            text = sentence.format(mask)
            done = filled(text, locale)[0]
            place = next((one for one in done.placed if one.entity_type == "datetime"), None)
            assert place is not None, text
            value = done.text[place.new_start : place.new_end]
            assert re.fullmatch(shape, value), (text, value)
            layout = read_date(value, locale[:2], date_order(locale[:2], locale[3:]), date(2026, 1, 1))
            assert layout is not None or mask[2] == " ", (text, value)


@pytest.mark.parametrize(
    ("text", "locale", "age"),
    [
        ("[NAME], [AGE] years old, DOB XX/XX/1984, was admitted on XX/XX/2012.", "en_US", {27, 28}),
        ("[NAME], DOB [DATE], 1984, is [AGE]. Visit date: 03/14/2012.", "en_US", {27, 28}),
        ("[NOMBRE], nacida el XX/XX/1990, de [EDAD] años, ingresada el 14/03/2012.", "es_ES", {21, 22}),
        ("[NAAM], geboren op **-**-1970, [LEEFTIJD] jaar, opgenomen op XX-XX-2015", "nl_NL", {44, 45}),
        ("[NAME], geboren am __.__.1950, [ALTER] Jahre, Aufnahme am XX.XX.2010", "de_DE", {59, 60}),
    ],
)
def test_ages_agree_with_the_visible_year_of_birth(text, locale, age):
    for done in filled(text, locale, count=20):
        place = next(one for one in done.placed if one.kind == "age")
        assert int(done.text[place.new_start : place.new_end]) in age, done.text


YEARS = [
    ("DOB: [DATE], '84.", "en_US", r"DOB: [^\d,]*\d\d?[^\d,]*, '84\."),
    ("born on [DATE] of 1984", "en_US", r"born on [^\d]*\d\d?\D* of 1984"),
    ("Nacido el [FECHA] de 1984 en Lugo", "es_ES", r"Nacido el \d\d? de \w+ de 1984 en Lugo"),
    ("geboren am [DATUM].1984 in Köln", "de_DE", r"geboren am [0-3]\d\.[01]\d\.1984 in Köln"),
    ("geboren op [DATUM]-1984 te Delft", "nl_NL", r"geboren op [0-3]\d-[01]\d-1984 te Delft"),
    ("from [YEAR]-2019 on", "en_US", r"from \d{4}-2019 on"),
]


def test_a_year_behind_a_placeholder_is_that_of_its_date():
    for text, locale, shape in YEARS:
        for done in filled(text, locale, count=10):
            assert re.fullmatch(shape, done.text), done.text


@pytest.mark.parametrize(
    "text",
    [
        "Admission date: XX/XX/2012. Discharge date: XX/XX/2012.",
        "Admission date: 12/XX/2012. Discharge date: 12/XX/2012. Died on XX/XX/2012.",
        "Admission date: [DATE], 2012. Discharge date: [DATE], 2012.",
        "Admitted **/**/2012, discharged on **/**/2013, died on XX/XX/2013.",
    ],
)
def test_masked_dates_keep_the_order_that_the_text_states(text):
    for done in filled(text, count=60):
        told = re.findall(r"\d\d?/\d\d?/\d{4}|[A-Z][a-z]+ \d+(?:st|nd|rd|th)?, \d{4}", done.text)
        days = [read_date(one, "en", "mdy", date(2026, 1, 1)).when for one in told]
        assert len(days) >= 2
        assert days == sorted(days), done.text
        assert set(re.findall(r"\d{4}", done.text)) == set(re.findall(r"\d{4}", text))


def test_masked_times_keep_what_they_show():
    for text, shape in [
        ("Seen at 14:XX today", r"Seen at 14:[0-5]\d today"),
        ("Seen at XX:30 today", r"Seen at (?:[01]\d|2[0-3]):30 today"),
        ("at 14:XX:XX sharp", r"at 14:[0-5]\d:[0-5]\d sharp"),
        ("19XX, 19XX and 19XX: a century", r"19\d\d, 19\d\d and 19\d\d: a century"),
    ]:
        assert re.fullmatch(shape, filled(text)[0].text), text
    assert re.fullmatch(r"14:[0-5]\d", filled_spans("at 14:XX", [("14:XX", "time")])[0])


# A known date, the locale, and what replaces it 261 days later.
MOVED = [
    ("2019-11-12", "en_US", "2020-07-30"),
    ("2019/11/12", "en_US", "2020/07/30"),
    ("2019-11", "en_US", "2020-08"),
    ("2019-11-12T14:35:00Z", "nl_NL", "2020-07-30T14:35:00Z"),
    ("2019-11-03T08:05", "sv_SE", "2020-07-21T08:05"),
    ("11/2019", "de_DE", "08/2020"),
    ("12.05.", "en_US", "28.01."),
    ("maj 2019", "pl_PL", "luty 2020"),
    ("3 maja 2019", "pl_PL", "19 stycznia 2020"),
    ("5. toukokuuta 2019", "fi_FI", "21. tammikuuta 2020"),
    ("12. května 2019", "cs_CZ", "28. ledna 2020"),
    ("5 мая 2019", "ru_RU", "21 января 2020"),
    ("5 Mayıs 2019", "tr_TR", "21 Ocak 2020"),
    ("2019. május 5", "hu_HU", "2020. január 21"),
    ("środa, 8 maja 2019", "pl_PL", "piątek, 24 stycznia 2020"),
    ("3. kvartal 2019", "da_DK", "2. kvartal 2020"),
    ("3rd quarter of 2019", "en_US", "2nd quarter of 2020"),
    ("3e trimestre 2019", "fr_FR", "2e trimestre 2020"),
    ("2019 Q3", "en_US", "2020 Q2"),
    ("summer 2019", "en_US", "spring 2020"),
    ("3e kwartaal 2019", "nl_NL", "2e kwartaal 2020"),
    ("1er trimestre de 2019", "es_ES", "4º trimestre de 2019"),
    ("May-June 2019", "en_US", "February-March 2020"),
    ("Mai/Juni 2019", "de_DE", "Februar/März 2020"),
    ("WS 2018/19", "de_DE", "WS 2019/20"),
    # Languages differ on these words, or nobody knows them: the form stays.
    ("maj 2019", "en_US", "maj 2020"),
    ("listopad 2019", "pl_PL", "sierpień 2020"),
    ("travanj 2019", "hr_HR", "siječanj 2020"),
    ("week 12, 2019", "en_US", "week 21, 2020"),
    ("H1 2019", "en_US", "H1 2020"),
    ("III kwartał 2019", "pl_PL", "III kwartał 2020"),
    ("31/31/2019", "en_US", "12/12/2020"),
    ("99/99/9999", "en_US", "99/99/9999"),
    ("dożynki", "pl_PL", "dożynki"),
    ("Ritvalan päivä 2019", "fi_FI", "Ritvalan päivä 2020"),
]


def test_known_dates_move_in_their_own_writing():
    found = []
    for text, locale, _ in MOVED:
        draw = Draw(seed=5, country=locale[3:], language=locale[:2], anchor=date(2024, 5, 1), shift=261, original=text)
        found.append((text, locale, KINDS["date"].draw(draw)))
    assert found == MOVED


def test_a_clock_in_words_stays_a_clock():
    for text, locale in [("a las 14:30", "es_ES"), ("kl. 14.30", "sv_SE"), ("um 9.05 Uhr", "de_DE"), ("vers 14h30", "fr_FR")]:
        value = filled_spans(f"x {text} y", [(text, "date")], locale)[0]
        hour, minute = re.search(r"(\d{1,2})[:.h](\d\d)", value).groups()
        assert int(hour) < 24, value
        assert int(minute) < 60, value


def test_known_masks_are_filled_and_keep_what_they_show():
    for mask, locale, shape in [
        ("XX/XX/1984", "en_US", r"\d\d/\d\d/1984"),
        ("**/**/1984", "de_DE", r"\d\d/\d\d/1984"),
        ("1984-XX-XX", "nl_NL", r"1984-\d\d-\d\d"),
        ("12/XX/1984", "en_US", r"12/\d\d/1984"),
        ("XX de marzo de 1984", "es_ES", r"\d\d? de marzo de 1984"),
    ]:
        assert re.fullmatch(shape, filled_spans(f"x {mask} y", [(mask, "date")], locale)[0]), mask


@case_by_case(
    ("locale", "writings"),
    [
        ("pl_PL", ["3 maja 2019", "2019-05-10", "17.05.2019", "24 maj 2019"]),
        ("fi_FI", ["3. toukokuuta 2019", "10.5.2019", "2019-05-17", "24. toukokuu 2019"]),
        ("cs_CZ", ["3. května 2019", "10. 5. 2019", "2019-05-17", "24. květen 2019"]),
        ("ru_RU", ["3 мая 2019", "10.05.2019", "2019-05-17", "24 май 2019"]),
        ("nl_NL", ["3 mei 2019", "10-05-2019", "2019-05-17T10:00:00Z", "24 mei 2019"]),
        ("da_DK", ["3. maj 2019", "10/5/2019", "2019-05-17", "24. maj 2019"]),
    ],
)
def test_intervals_hold_in_every_writing(locale, writings):
    text = ", ".join(writings)
    language = locale[:2]
    values = filled_spans(text, [(one, "date") for one in writings], locale)
    told = [read_date(one, language, date_order(language, locale[3:]), date(2026, 1, 1)).when for one in values]
    assert [(day - told[0]).days for day in told] == [0, 7, 14, 21]


@pytest.mark.parametrize(
    ("born", "type_"),
    [("XX/XX/1984", "date_of_birth"), ("May 1984", "date_of_birth"), ("1984", "birth year"), ("5 maja 1984", "date_of_birth")],
)
def test_a_known_birth_date_moves_with_the_other_dates(born, type_):
    text = f"Jo Li, born {born}, aged 34, seen 2019-05-03"
    _, value, age, seen = filled_spans(text, [("Jo Li", "name"), (born, type_), ("34", "age"), ("2019-05-03", "date")])
    assert age == "34"
    if "X" in born:
        assert re.fullmatch(r"\d\d/\d\d/1984", value)
    else:
        assert value == shifted_text(born, (date.fromisoformat(seen) - date(2019, 5, 3)).days, "en", "mdy", date(2026, 1, 1))


PARTS = [
    # Parts of one date, the locale, and what they come to.
    ("on [MONTH] [DAY], [YEAR] she", "en_US", "%B %-d, %Y"),
    ("on <DAY> <MONTH> <YEAR> she", "en_GB", "%-d %B %Y"),
    ("on {MONTH} {DAY}, {YEAR} she", "en_US", "%B %-d, %Y"),
    ("Date: [MONTH]/[DAY]/[YEAR] is", "en_US", "%m/%d/%Y"),
    ("Date: [YEAR]-[MONTH]-[DAY] is", "en_US", "%Y-%m-%d"),
    ("[WEEKDAY], [MONTH] [DAY], [YEAR] at", "en_US", "%A, %B %-d, %Y"),
    ("[DAY], [MONTH] [DAY], [YEAR] at", "en_US", "%A, %B %-d, %Y"),
    ("el [DÍA] de [MES] de [AÑO] en", "es_ES", "%-d de %B de %Y"),
    ("le [JOUR] [MOIS] [ANNÉE] à", "fr_FR", "%-d %B %Y"),
    ("Er kam am [TAG]. [MONAT] [JAHR] in", "de_DE", "%-d. %B %Y"),
    ("Er kam am [TAG].[MONAT].[JAHR] in", "de_DE", "%d.%m.%Y"),
    ("op [DAG] [MAAND] [JAAR] in", "nl_NL", "%-d %B %Y"),
    ("il [GIORNO] [MESE] [ANNO] a", "it_IT", "%-d %B %Y"),
    ("em [DIA] de [MÊS] de [ANO] em", "pt_BR", "%-d de %B de %Y"),
    ("den [DAG] [MÅNAD] [ÅR] i", "sv_SE", "%-d %B %Y"),
]


@case_by_case(("text", "locale", "shape"), PARTS)
def test_parts_of_one_date_agree(text, locale, shape):
    language = locale[:2]
    words = calendar_of(language)
    for done in filled(text, locale, count=30):
        value = done.text[done.placed[0].new_start : done.placed[-1].new_end]
        layout = read_date(value, language, date_order(language, locale[3:]), date(2026, 1, 1))
        assert layout is not None, done.text
        assert layout.precision == "day", done.text
        day = "1er" if language == "fr" and layout.when.day == 1 else str(layout.when.day)
        wanted = shape.replace("%B", words.months[layout.when.month - 1]).replace("%A", words.weekdays[layout.when.weekday()])
        assert value == layout.when.strftime(wanted.replace("%-d", day))


@case_by_case(
    ("text", "shape"),
    [
        ("DOB: [MONTH] [DAY], 1984; she is [AGE].", r"DOB: [A-Z][a-z]+ \d\d?, 1984; she is (?:3\d|4\d)\."),
        ("on March [DAY], 2019 and [DAY] March", r"on March [1-3]?\d, 2019 and [1-3]?\d March"),
        ("on [DAY]/03/2019", r"on [0-3]\d/03/2019"),
        ("[DAY]-[DAY] [MONTH] [YEAR]", r"\d\d?-\d\d? [A-Z][a-z]+ \d{4}"),
        ("valid thru [CREDIT_DEBIT_EXPIRY]", r"valid thru (?:0[1-9]|1[0-2])/2\d"),
        ("in [MONTH_YEAR] she left", r"in [A-Z][a-z]+ (?:of )?\d{4} she left"),
        ("on [MONTH_DAY] she left", r"on (?:[A-Z][a-z]+ \d\d?(?:st|nd|rd|th)?|\d\d?/\d\d?) she left"),
    ],
)
def test_a_part_of_a_date_is_no_whole_date(text, shape):
    for done in filled(text, count=20):
        assert re.fullmatch(shape, done.text), done.text


def test_ages_and_order_hold_for_dates_in_parts():
    for done in filled(
        "[NAME], [AGE], born [DAY] [MONTH] [YEAR]. Admitted [MONTH] [DAY], [YEAR], discharged [MONTH] [DAY], [YEAR].", count=30
    ):
        told = re.fullmatch(r".*, (\d+), born (.*)\. Admitted (.*), discharged (.*)\.", done.text)
        assert told is not None, done.text
        born, came, left = (read_date(one, "en", "mdy", date(2026, 1, 1)).when for one in told.groups()[1:])
        assert born < came < left
        assert int(told[1]) == came.year - born.year - ((came.month, came.day) < (born.month, born.day)), done.text


def test_a_placeholder_that_is_a_span_is_filled():
    for tag in ("[DATE]", "<DATE_1>", "XXXX"):
        value = filled_spans(f"seen {tag} at noon", [(tag, "date")])[0]
        assert read_date(value, "en", "mdy", date(2026, 1, 1)) is not None, value


def test_no_number_is_taken_for_a_masked_date():
    for text in (
        "Dr. XX said so",
        "a size XX shirt",
        "**bold** / __init__.py",
        "what??/why??",
        "## Title",
        "chapter XX",
        "5**2/3",
        "a__b/c__d",
    ):
        assert words(filled(text)[0]) == [] or "Dr." in text
