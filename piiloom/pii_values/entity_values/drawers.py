"""The drawers that entries of the catalogue name in their ``draw``: values that no mask describes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberFormat, PhoneNumberType

from piiloom.pii_values.entity_values.people import GENDERS, draw_birth_date_text, draw_person, email_of, locale_words, username_of
from piiloom.pii_values.numbering.holders import digits
from piiloom.pii_values.numbering.masks import fill_mask

EntityDrawer = Callable[[str, random.Random], str]

_FORMATS: Final = (PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.NATIONAL, PhoneNumberFormat.NATIONAL, PhoneNumberFormat.E164)
_TRIES: Final = 200
_SIGNS: Final = "!#$%&*+-=?@_"
_PLAIN: Final = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
# How an amount is written, the sign between thousands, and about how many units make a monthly wage.
_MONEY: Final[Mapping[str, tuple[tuple[str, ...], str, int]]] = MappingProxyType(
    {
        "sv_SE": (("{} kr", "{} SEK", "{}:-"), " ", 34_000),
        "fi_FI": (("{} €", "{} euroa"), " ", 3_400),
        "no_NO": (("{} kr", "kr {}", "NOK {}"), " ", 48_000),
        "nl_NL": (("€ {}", "€{}", "{} euro"), ".", 3_300),
        "nl_BE": (("€ {}", "{} euro", "{} EUR"), ".", 3_500),
        "pl_PL": (("{} zł", "{} PLN"), " ", 7_800),
        "pt_BR": (("R$ {}", "R${}"), ".", 3_900),
        "pt_PT": (("{} €", "{} euros", "{} EUR"), ".", 1_700),
        "zh_CN": (("¥{}", "{}元", "人民币{}元"), ",", 9_500),
        "zh_SG": (("S${}", "${}", "{}新元"), ",", 5_600),
        "vi_VN": (("{} đồng", "{}đ", "{} VND"), ".", 12_000_000),
        "hi_IN": (("₹{}", "₹ {}", "{} रुपये"), ",", 38_000),
        "ar_AE": (("{} درهم", "AED {}", "{} د.إ"), ",", 14_000),
    }
)
# What a person's gender is called: a woman's, a man's, and another, which is rare.
_GENDERS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]]] = MappingProxyType(
    {
        "sv": (("kvinna",), ("man",), ("icke-binär",)),
        "fi": (("nainen",), ("mies",), ("muunsukupuolinen",)),
        "no": (("kvinne",), ("mann",), ("ikke-binær",)),
        "nl": (("vrouw",), ("man",), ("non-binair",)),
        "pl": (("kobieta",), ("mężczyzna",), ("osoba niebinarna",)),
        "pt": (("feminino", "mulher"), ("masculino", "homem"), ("não binário",)),
        "zh": (("女", "女性"), ("男", "男性"), ()),
        "vi": (("nữ",), ("nam",), ()),
        "hi": (("महिला",), ("पुरुष",), ("अन्य",)),
        "ar": (("أنثى",), ("ذكر",), ()),
        "en": (("female", "woman"), ("male", "man"), ("non-binary",)),
    }
)
_OTHER_RATE: Final = 0.05


@cache
def _examples(region: str) -> tuple[str, ...]:
    """National significant numbers of mobile and fixed lines, from libphonenumber."""
    kinds = (PhoneNumberType.MOBILE, PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE)
    found = (phonenumbers.example_number_for_type(region, kind) for kind in kinds)
    return tuple(str(one.national_number) for one in found if one is not None)


def draw_valid_phone(locale: str, rng: random.Random) -> str:
    """Draw a telephone number that libphonenumber takes for valid in the region of *locale*, in one of its usual formats."""
    region = locale.partition("_")[2]
    code = phonenumbers.country_code_for_region(region)
    for _ in range(_TRIES):
        example = rng.choice(_examples(region))
        number = PhoneNumber(country_code=code, national_number=int(example[:3] + digits(len(example) - 3, rng)))
        if phonenumbers.is_valid_number_for_region(number, region):
            break
    else:
        number = PhoneNumber(country_code=code, national_number=int(_examples(region)[0]))
    return phonenumbers.format_number(number, rng.choice(_FORMATS))


def draw_postal_address(locale: str, rng: random.Random, city: str | None = None) -> str:
    """Draw a whole postal address in one line, in *city* or any."""
    words = locale_words(locale)
    city = city or rng.choice(list(words.cities))
    parts = {
        "street": rng.choice(words.streets),
        "house": fill_mask(rng.choice(words.houses), rng),
        "postcode": fill_mask(words.cities[city], rng),
        "city": city,
    }
    return rng.choice(words.addresses).format(**parts).strip(" ,，")


def draw_salary(locale: str, rng: random.Random) -> str:
    """Draw a monthly or yearly wage as people write it."""
    forms, _, _ = _MONEY[locale]
    return rng.choice(forms).format(amount_of(locale, rng, 0.5, 2.5))


def amount_of(locale: str, rng: random.Random, low: float, high: float) -> str:
    """Draw an amount of *low* to *high* monthly wages, grouped, without its currency."""
    _, group, wage = _MONEY[locale]
    amount = int(wage * (low + (high - low) * rng.random() ** 2))
    rounded = max(1, amount // 100 * 100 if amount > 2000 else amount)
    return f"{rounded:,}".replace(",", group)


def draw_gender_word(locale: str, rng: random.Random, gender: str | None = None) -> str:
    """Draw a word for a gender: for that of a person with a name of *gender*, mostly, or any."""
    words = _GENDERS.get(locale[:2], _GENDERS["en"])
    if words[2] and rng.random() < _OTHER_RATE:
        return rng.choice(words[2])
    return rng.choice(words[GENDERS.index(gender or rng.choice(GENDERS))])


def money_form(locale: str, rng: random.Random) -> str:
    """One of the ways of writing a sum in *locale*, with ``{}`` for the number."""
    forms, _, _ = _MONEY[locale]
    return rng.choice(forms)


def _password(locale: str, rng: random.Random) -> str:  # noqa: ARG001 - the signature of a drawer
    letters = [rng.choice(_PLAIN) for _ in range(rng.randint(6, 13))]
    for _ in range(rng.randint(1, 2)):
        letters.insert(rng.randint(1, len(letters)), rng.choice(_SIGNS))
    return "".join(letters) + digits(2, rng)


def _one_of(words: str) -> EntityDrawer:
    return lambda locale, rng: locale_words(locale).any_of(words, rng)


DRAWERS: Final[Mapping[str, EntityDrawer]] = MappingProxyType(
    {
        "person_name": lambda locale, rng: draw_person(locale, rng).full,
        "given_name": lambda locale, rng: draw_person(locale, rng).given,
        "family_name": lambda locale, rng: draw_person(locale, rng).family,
        "username": lambda locale, rng: username_of(draw_person(locale, rng), rng),
        "email": lambda locale, rng: email_of(draw_person(locale, rng), rng),
        "password": _password,
        "phone": draw_valid_phone,
        "date_of_birth": draw_birth_date_text,
        "address": draw_postal_address,
        "salary": draw_salary,
        "city": lambda locale, rng: rng.choice(list(locale_words(locale).cities)),
        "age": lambda locale, rng: str(rng.randint(18, 94)),  # noqa: ARG005
        "gender": draw_gender_word,
        "street": _one_of("streets"),
        "employer": _one_of("employers"),
        "occupation": _one_of("occupations"),
        "condition": _one_of("conditions"),
        "medication": _one_of("medications"),
        "school": _one_of("schools"),
        "nationality": _one_of("nationalities"),
        "belief": _one_of("beliefs"),
        "relation": _one_of("relations"),
        "department": _one_of("departments"),
        "product": _one_of("products"),
        "media_title": _one_of("media_titles"),
    }
)
