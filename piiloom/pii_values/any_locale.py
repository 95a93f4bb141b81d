"""Values of locales without word lists of ours, from Faker, Unicode CLDR (by Babel) and the rules of the country.

Faker has names, and cities and streets, of some locales only. Names are taken from another country of the same language and script, places
never. Where Faker has nothing of the locale's own, its methods give American or English words: those are not used, nor are cities that it
makes up of names and suffixes. Dates, times, durations, countries and the form of amounts are CLDR's. Numbers come from the entity
catalogue where it has them for the country, else from ``country_facts``, libphonenumber and what is the same everywhere.

All other values are asked from a model; ``drawers_of`` lacks them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import date, time
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, Final, Literal

import regex

from piiloom.pii_values.countries import facts_of, id_rule, supported
from piiloom.pii_values.dates import age_on, draw_day, draw_year
from piiloom.pii_values.entity_values.drawers import draw_valid_phone
from piiloom.pii_values.entity_values.drawing import draw_entity_value, number_holder
from piiloom.pii_values.entity_values.people import GENDERS, NamedPerson, draw_adult_birth_date, latin_name
from piiloom.pii_values.identifiers import draw_iban, draw_ip_address, draw_number, draw_payment_card, draw_wallet
from piiloom.pii_values.numbering.accounts import national_account
from piiloom.pii_values.numbering.holders import rule_of
from piiloom.pii_values.numbering.masks import fill_places
from piiloom.pii_values.people import draw_email, draw_handle
from piiloom.taxonomy.entities.catalogue_file import UNIVERSAL
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.locales import cldr_locale, get_locale, locale_codes

Draw = Callable[[NamedPerson, random.Random], str]
Drawers = Mapping[str, Mapping[str, Draw]]

_FAMILY_FIRST: Final = MappingProxyType({"zh": "", "yue": "", "ja": "", "ko": "", "hu": " ", "vi": " "})  # and the sign between the names
_SCRIPTS: Final = MappingProxyType(
    {"Hans": r"\p{Han}", "Hant": r"\p{Han}", "Jpan": r"\p{Han}\p{Hiragana}\p{Katakana}", "Kore": r"\p{Hangul}"}
)
_SAMPLE: Final = 12  # values drawn to see in which script Faker has them
_MARKS: Final = regex.compile("[\u061c\u200e\u200f]")  # of the direction of writing
_SPACES: Final = regex.compile("[\u00a0\u202f]")
_LAST_STOP: Final = regex.compile(r"(?<=\d)\.$")
_LONG_NUMBER: Final = regex.compile(r"\d{4,}")
# Ways of writing a date (formats and skeletons of CLDR), and how often: people seldom write all in numbers.
_DATES: Final = (("MMMMd", 4), ("long", 4), ("medium", 1), ("short", 1))
_FORMATS: Final = frozenset({"long", "medium", "short"})
_DURATIONS: Final = (("day", 60), ("week", 30), ("month", 40), ("year", 25), ("hour", 36))  # units, and the most of each
_DOLLARS: Final = (25, 40, 75, 120, 180, 260, 350, 480, 650, 900, 1250, 1800, 2600, 3900)
# Papers, and the endings of their ids in the entity catalogue.
_PAPERS: Final[Mapping[Literal["passport", "driving_licence", "licence_plate"], tuple[str, ...]]] = MappingProxyType(
    {"passport": ("passport",), "driving_licence": ("driving_licence",), "licence_plate": ("licence_plate", "vehicle_plate", "plate")}
)


_NUMBERS: Final = ("ticket", "student_id", "employee_id", "member_id", "case_number")


def versions() -> Mapping[str, str]:
    """Return the versions of the libraries on which values of these locales depend."""
    return {name: version(name) for name in ("babel", "faker")}


def _numbered(kind: str, person: NamedPerson, rng: random.Random) -> str:
    return draw_number(kind, rng, person.born.year)


def draw_resident(locale: str, rng: random.Random) -> NamedPerson:
    """Draw a person of *locale*; the names are empty where Faker has none."""
    gender, source = rng.choice(GENDERS), faker_locale("person", locale)
    (given, latin_given), (family, latin_family) = (("", ""), ("", "")) if source is None else _names(_generator(source, rng), gender)
    sign = _FAMILY_FIRST.get(locale.partition("_")[0])
    return NamedPerson(
        locale=locale,
        gender=gender,
        given=given,
        family=family,
        full=f"{given} {family}" if sign is None else f"{family}{sign}{given}",
        latin_given=latin_given,
        latin_family=latin_family,
        born=draw_adult_birth_date(rng),
    )


def _names(source: Any, gender: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """Draw a given and a family name, each with its form in Latin letters."""
    if hasattr(source, "last_name_pair"):  # Japanese: (kanji, kana, Latin letters)
        given, family = getattr(source, f"first_name_{gender}_pair")(), source.last_name_pair()
        return (given[0], given[2]), (family[0], family[2])
    given, family = getattr(source, f"first_name_{gender}")(), getattr(source, f"last_name_{gender}")()
    return (given, latin_name(given)), (family, latin_name(family))


@cache
def drawers_of(locale: str) -> Drawers:
    """Return the functions that draw values of *locale*, by type and subtype."""
    cities, region = faker_locale("address", locale), locale.partition("_")[2]
    named = faker_locale("person", locale) is not None
    whole = locale.partition("_")[0] not in _FAMILY_FIRST or " " in _FAMILY_FIRST[locale.partition("_")[0]]  # two letters or more
    names: dict[str, Draw] = {
        "full_name": lambda p, _: p.full,
        "first_name": lambda p, _: p.given,
        "username": lambda p, rng: draw_handle(p.latin_given, p.latin_family, p.born.year, rng),
        **({"last_name": lambda p, _: p.family} if whole else {}),
    }
    places: dict[str, Draw] = {"country": lambda p, rng: rng.choice(_countries(p.locale))}
    if cities is not None:
        places |= {name: partial(_place, method) for method, name in (_PLACES if _has_streets(cities) else _PLACES[:1])}
    codes: dict[str, Draw] = {
        "payment_card": lambda p, rng: draw_payment_card(p.locale, rng),
        "bank_account": _account,
        **({"national_id": lambda p, rng: rule_of(rule)(number_holder(rng, p))} if (rule := id_rule(region)) else {}),
        **{paper: partial(_paper, paper) for paper in _PAPERS},
        **{kind: partial(_numbered, kind) for kind in _NUMBERS},
        **({"email": lambda p, rng: draw_email(p.latin_given, p.latin_family, p.born.year, rng)} if named else {}),
        "phone": lambda p, rng: draw_valid_phone(p.locale, rng),
        "ip_address": lambda _, rng: draw_ip_address(rng),
        "wallet": lambda _, rng: draw_wallet(rng),
    }
    return MappingProxyType(
        {
            "name": names if named else {},
            "location": places,
            "datetime": {"date": _date, "month_year": _month, "year": _year, "time": _time, "duration": _duration},
            "age": {"years": lambda p, _: str(age_on(p.born))},
            "finance": {"amount": _amount} if region in supported() else {},
            "code": codes,
        }
    )


def entity_drawer(entity_id: str, language: str) -> Draw | None:
    """Return the function that draws values of a catalogue entity; None if there is no such entity, or it needs words of the locale."""
    entity = find_shipped(entity_id)
    if entity is None or entity.generator is None or entity.generator.draw is not None:
        return None
    if entity.locale == UNIVERSAL and not entity.structured and language != "en":  # its values are English words
        return None
    return lambda person, rng: draw_entity_value(entity, person.locale, rng)


def locale_description(locale: str) -> list[str]:
    """Return lines that say which values of *locale* come from where."""
    names, places, found = faker_locale("person", locale), faker_locale("address", locale), drawers_of(locale)
    by_faker = [f"names from {names}"] if names else []
    by_faker += [f"{', '.join(sorted(found['location'].keys() - {'country'}))} from {places}"] if places else []
    taken = versions()
    lines = [f"Faker {taken['faker']}: {'; '.join(by_faker)}"] if by_faker else []
    money = ", amount" if found["finance"] else ""
    lines.append(f"Unicode CLDR (Babel {taken['babel']}): {', '.join(found['datetime'])}, country{money}, language and country in prompts")
    lines.append(f"the entity catalogue, rules of the country and libphonenumber: {', '.join(found['code'])}; other codes are left out")
    lacking = [name for name, known in (("names", names), ("cities and streets", places)) if known is None]
    return [*lines, f"the model: all other values{''.join(f', {one}' for one in lacking)}"]


@cache
def faker_locale(kind: Literal["person", "address"], locale: str) -> str | None:
    """Return the Faker locale whose names or places suit *locale*, None if there is none."""
    from faker.config import AVAILABLE_LOCALES  # noqa: PLC0415 - Faker takes a while to import

    language, _, country = locale.partition("_")
    known = sorted(name for name in AVAILABLE_LOCALES if find_spec(f"faker.providers.{kind}.{name}") is not None)
    if kind == "person":
        first = [locale, *(f"{language}_{one}" for one in locale_codes().languages[language].countries)]
        wanted = [*first, *(name for name in known if name.startswith(f"{language}_"))]
    else:
        wanted = [locale, *(name for name in known if name.endswith(f"_{country}"))]
    return next((name for name in dict.fromkeys(wanted) if name in known and _suits(kind, name, locale)), None)


def _suits(kind: str, name: str, locale: str) -> bool:
    """Whether Faker's *name* has values in the script of *locale*, and cities that exist."""
    own = cldr_locale(locale)
    script = own.script or _likely_script(own.language)
    if name != locale and script in {"Hans", "Hant"} and cldr_locale(name).script != script:
        return False
    source = _generator(name, random.Random(0))
    if kind == "address" and not _has_cities(name):
        return False
    drawn = [_names(source, GENDERS[0])[0][0] if kind == "person" else source.city() for _ in range(_SAMPLE)]
    letters = _SCRIPTS.get(script) or rf"\p{{Script={script}}}"
    return all(regex.search(f"[{letters}]", one) is not None for one in drawn)


def _likely_script(language: str) -> str:
    from babel.core import get_global  # noqa: PLC0415

    return str(get_global("likely_subtags").get(language, "und_Latn_ZZ")).split("_")[1]


def _address_class(name: str) -> Any:
    return import_module(f"faker.providers.address.{name}").Provider


def _owner(cls: Any, attribute: str) -> str:
    """Return the last part of the module in which *cls* or an ancestor defines *attribute*."""
    return str(next(one.__module__ for one in cls.__mro__ if attribute in vars(one))).rpartition(".")[2]


def _has_cities(name: str) -> bool:
    found = _address_class(name)
    lists = [form.replace(" ", "") for form in found.city_formats]
    return _owner(found, "city") == name or {"{{city_name}}"} == set(lists)


def _has_streets(name: str) -> bool:
    found = _address_class(name)
    return name in {_owner(found, "street_name"), _owner(found, "street_name_formats")} and name in {
        _owner(found, "street_address"),
        _owner(found, "street_address_formats"),
    }


@cache
def _made(name: str) -> Any:  # a generator of Faker, whose methods depend on the locale
    from faker import Factory  # noqa: PLC0415 - as above

    known = [kind for kind in ("person", "address") if find_spec(f"faker.providers.{kind}.{name}") is not None]
    return Factory.create(name, [f"faker.providers.{kind}" for kind in known])


def _generator(name: str, rng: random.Random) -> Any:
    found = _made(name)
    found.seed_instance(rng.getrandbits(63))
    return found


_PLACES: Final = (("city", "city"), ("street_name", "street"), ("street_address", "address"))


def _place(method: str, person: NamedPerson, rng: random.Random) -> str:
    name = faker_locale("address", person.locale)
    text = " ".join(str(getattr(_generator(name or "", rng), method)()).split())
    houses = facts_of(person.locale.partition("_")[2]).houses  # Faker numbers houses of many countries up to 9999
    return _LONG_NUMBER.sub(lambda _: str(1 + int(rng.random() ** 2 * houses)), text)


@cache
def _countries(locale: str) -> tuple[str, ...]:
    """Return the names of the countries that are the likeliest of some language, but for the locale's own."""
    codes = {one.countries[0] for one in locale_codes().languages.values() if one.countries} - {locale.partition("_")[2]}
    names = cldr_locale(locale).territories
    return tuple(str(names[code]) for code in sorted(codes) if code in names)


def _plain(text: str) -> str:
    """Return *text* of CLDR as people type it: with plain blanks, without marks of direction and without a final full stop."""
    return _LAST_STOP.sub("", _SPACES.sub(" ", _MARKS.sub("", text)).removesuffix(" г.").strip())


def _written(form: str, day: date, person: NamedPerson) -> str:
    """Return *day* in a format of CLDR ("long") or by a skeleton ("yMMMM"), in the locale of *person*."""
    from babel.dates import format_date, format_skeleton  # noqa: PLC0415

    locale = cldr_locale(person.locale)
    return _plain(format_date(day, form, locale) if form in _FORMATS else format_skeleton(form, day, locale=locale))


def _date(person: NamedPerson, rng: random.Random) -> str:
    form = rng.choices([name for name, _ in _DATES], [share for _, share in _DATES])[0]
    return _written(form, draw_day(person.born, rng), person)


def _month(person: NamedPerson, rng: random.Random) -> str:
    return _written("yMMMM", draw_day(person.born, rng), person)


def _year(person: NamedPerson, rng: random.Random) -> str:
    return _written("y", date(int(draw_year(person.born, rng)), 1, 1), person)


def _time(person: NamedPerson, rng: random.Random) -> str:
    from babel.dates import format_time  # noqa: PLC0415

    return _plain(format_time(time(rng.randint(6, 23), 5 * rng.randint(0, 11)), "short", locale=cldr_locale(person.locale)))


def _duration(person: NamedPerson, rng: random.Random) -> str:
    from babel.units import format_unit  # noqa: PLC0415

    unit, most = rng.choice(_DURATIONS)
    return _plain(format_unit(rng.randint(2, most), f"duration-{unit}", locale=cldr_locale(person.locale)))


def _amount(person: NamedPerson, rng: random.Random) -> str:
    money = facts_of(person.locale.partition("_")[2]).money
    amount = rng.choice(_DOLLARS) * money.scale * rng.uniform(0.8, 1.25)
    return cldr_amount(float(f"{amount:.2g}"), person.locale)


def cldr_amount(amount: float, locale: str) -> str:
    """Return *amount* as it is written in *locale*, in its currency; a whole one without a fraction."""
    from babel.numbers import format_currency  # noqa: PLC0415

    found, currency = cldr_locale(locale), get_locale(locale).currency
    if amount != int(amount):
        return _plain(format_currency(amount, currency, locale=found))
    whole = found.currency_formats["standard"].pattern.replace("0.00", "0")
    return _plain(format_currency(amount, currency, whole, locale=found, currency_digits=False))


def _account(person: NamedPerson, rng: random.Random) -> str:
    country = person.locale.partition("_")[2]
    found = draw_iban(country, rng)
    return found or national_account(country, fill_places(rng.choice(facts_of(country).bank_account or ["%#########"]), rng))


def _paper(paper: Literal["passport", "driving_licence", "licence_plate"], person: NamedPerson, rng: random.Random) -> str:
    country = person.locale.partition("_")[2]
    for ending in _PAPERS[paper]:
        entity = find_shipped(f"{country.lower()}_{ending}")
        if entity is not None and entity.generator is not None:
            return draw_entity_value(entity, person.locale, rng, person=person)
    mask = rng.choice(getattr(facts_of(country), paper))
    given = {"{yymmdd}": f"{person.born:%y%m%d}", "{ddmmyy}": f"{person.born:%d%m%y}", "{F}": person.latin_family[:1].upper() or "X"}
    for slot, text in given.items():
        mask = mask.replace(slot, text)
    return fill_places(mask, rng)
