"""Birth dates as people of a locale write them: in digits, and with the name of the month."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final

from piiloom.pii_values.dates import REFERENCE_DATE

# Days. Children seldom have accounts, passports and jobs; who was born before 2000 has a number of one kind.
_YOUNGEST, _OLDEST = 27 * 366, 92 * 365
# Names of months in the form that follows a day.
_MONTHS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        language: tuple(names.split())
        for language, names in {
            "sv": "januari februari mars april maj juni juli augusti september oktober november december",
            "no": "januar februar mars april mai juni juli august september oktober november desember",
            "fi": "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta "
            "heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta",
            "nl": "januari februari maart april mei juni juli augustus september oktober november december",
            "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
            "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
            "hi": "जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर",
            "ar": "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
            "en": "January February March April May June July August September October November December",
        }.items()
    }
)
# By locale, the usual form more than once; {month} is the name of the month, all else of strftime.
_FORMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "sv_SE": ("%Y-%m-%d", "%Y-%m-%d", "%-d {month} %Y", "%-d/%-m %Y"),
        "fi_FI": ("%-d.%-m.%Y", "%d.%m.%Y", "%-d. {month} %Y"),
        "no_NO": ("%d.%m.%Y", "%-d.%-m.%Y", "%-d. {month} %Y"),
        "nl_NL": ("%d-%m-%Y", "%-d-%-m-%Y", "%-d {month} %Y"),
        "nl_BE": ("%d/%m/%Y", "%-d/%-m/%Y", "%-d {month} %Y"),
        "pl_PL": ("%d.%m.%Y", "%d.%m.%Y", "%-d {month} %Y", "%Y-%m-%d"),
        "pt_BR": ("%d/%m/%Y", "%d/%m/%Y", "%-d de {month} de %Y"),
        "pt_PT": ("%d/%m/%Y", "%d-%m-%Y", "%-d de {month} de %Y"),
        "zh_CN": ("%Y年%-m月%-d日", "%Y-%m-%d", "%Y.%m.%d"),
        "zh_SG": ("%Y年%-m月%-d日", "%d/%m/%Y", "%d-%m-%Y"),
        "vi_VN": ("%d/%m/%Y", "%-d/%-m/%Y", "ngày %-d tháng %-m năm %Y"),
        "hi_IN": ("%d/%m/%Y", "%d-%m-%Y", "%-d {month} %Y"),
        "ar_AE": ("%d/%m/%Y", "%Y/%m/%d", "%-d {month} %Y"),
        "en_US": ("%m/%d/%Y", "%-m/%-d/%Y", "{month} %-d, %Y"),
        "en_GB": ("%d/%m/%Y", "%-d {month} %Y"),
    }
)


def draw_birth_date(rng: random.Random) -> date:
    """Draw the birth date of an adult born in the last century."""
    return REFERENCE_DATE - timedelta(days=rng.randint(_YOUNGEST, _OLDEST))


def draw_birth_date_text(locale: str, rng: random.Random, born: date | None = None) -> str:
    """Write *born*, or the birth date of any adult, in one of the ways of *locale*."""
    return write_birth_date(born or draw_birth_date(rng), rng.choice(_FORMS[locale]), locale)


def age_at(born: date, day: date) -> int:
    """How old somebody is on *day*."""
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


def write_birth_date(born: date, form: str, locale: str) -> str:
    """Write *born* in *form*, with the name of the month in the language of *locale*."""
    if "{month}" not in form:
        return born.strftime(form)
    return born.strftime(form.replace("{month}", _MONTHS[locale[:2]][born.month - 1]))
