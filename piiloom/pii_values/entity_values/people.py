"""Made-up people of a locale: names, words and places in its own script (``data/entity_words/<locale>.yaml``), birth dates, user names."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Annotated, Final

from anyascii import anyascii
from pydantic import Field

from piiloom.foundation.errors import UsageError
from piiloom.foundation.yaml_files import FileModel, Text, load_yaml
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.numbering.holders import DOMAINS, digits

WordList = Annotated[list[Text], Field(min_length=10)]
Gendered = Annotated[dict[str, list[Text]], Field(min_length=2, max_length=2)]
GENDERS = ("female", "male")


class Community(FileModel):
    """People whose given and family names go together. What it leaves out is as in the whole locale."""

    family_names: Gendered | list[Text]
    given_names: Gendered
    names: Gendered | list[Text] = Field(default=[])
    nationalities: Gendered | list[Text] = Field(default=[])
    beliefs: Gendered | list[Text] = Field(default=[])


class LocaleWords(FileModel):
    """One file. ``names`` are ways of writing a full name, ``addresses`` an address; ``houses`` and the values of ``cities`` are masks.

    ``communities`` are people whose names do not mix with ``family_names`` and ``given_names``, which are everybody else's.
    ``latin`` gives names of another script in Latin letters, for addresses and as ``{latin_given}`` and ``{latin_family}`` in ``names``.
    """

    locale: str
    language: str
    family_names: Gendered | WordList
    given_names: Gendered
    communities: list[Community] = Field(default=[])
    names: Gendered | Annotated[list[Text], Field(min_length=1)]
    latin: dict[str, str] = Field(default={})
    streets: WordList
    houses: list[Text] = Field(min_length=1)
    cities: dict[str, str] = Field(min_length=10)
    addresses: list[Text] = Field(min_length=1)
    employers: WordList
    occupations: Gendered | WordList
    conditions: WordList
    medications: WordList
    schools: WordList
    nationalities: Gendered | WordList
    beliefs: Gendered | Annotated[list[Text], Field(min_length=5)]
    relations: Gendered | WordList
    departments: WordList
    products: WordList
    media_titles: WordList

    def name_of(self, gender: str, rng: random.Random, community: int | None = None) -> tuple[str, str, int]:
        """Draw a given name, a family name in its form for *gender*, and the number of their community, if it is not *community*."""
        groups: tuple[LocaleWords | Community, ...] = (self, *self.communities)
        weights = [len(_words(one.family_names, gender)) for one in groups]
        number = rng.choices(range(len(groups)), weights=weights)[0] if community is None else community
        group = groups[number]
        return rng.choice(group.given_names[gender]), rng.choice(_words(group.family_names, gender)), number

    def names_in(self, community: int, gender: str) -> list[str]:
        """The ways in which people of *community* write a full name."""
        return _words(self._in(community).names or self.names, gender)

    def of_person(self, field: str, gender: str, community: int, rng: random.Random) -> str:
        """Draw one of the words of *field* ("relations", "beliefs" …), in the form for *gender*, that fits people of *community*."""
        return rng.choice(_words(getattr(self._in(community), field, None) or getattr(self, field), gender))

    def any_of(self, field: str, rng: random.Random) -> str:
        """Draw one of the words of *field*, of any gender."""
        return rng.choice(_words(getattr(self, field), rng.choice(GENDERS)))

    def _in(self, community: int) -> LocaleWords | Community:
        return self.communities[community - 1] if community else self


def _words(words: Mapping[str, list[str]] | list[str], gender: str) -> list[str]:
    return words[gender] if isinstance(words, Mapping) else words


@cache
def locale_words(locale: str) -> LocaleWords:
    """Return the words of *locale*; raises ``UsageError`` if there are none, ``ConfigError`` (file, line) for a malformed file."""
    folder = files("piiloom.pii_values") / "data" / "entity_words"
    known = sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    if locale not in known:
        raise UsageError(f"there are no words for the locale {locale!r}", remedy=f"Known: {', '.join(known)}")
    return load_yaml(folder / f"{locale}.yaml", LocaleWords)


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


def draw_adult_birth_date(rng: random.Random) -> date:
    """Draw the birth date of an adult born in the last century."""
    return REFERENCE_DATE - timedelta(days=rng.randint(_YOUNGEST, _OLDEST))


def draw_birth_date_text(locale: str, rng: random.Random, born: date | None = None) -> str:
    """Write *born*, or the birth date of any adult, in one of the ways of *locale*."""
    return write_birth_date(born or draw_adult_birth_date(rng), rng.choice(_FORMS[locale]), locale)


def write_birth_date(born: date, form: str, locale: str) -> str:
    """Write *born* in *form*, with the name of the month in the language of *locale*."""
    if "{month}" not in form:
        return born.strftime(form)
    return born.strftime(form.replace("{month}", _MONTHS[locale[:2]][born.month - 1]))


_HOSTS: Final = ("", "mail.", "post.", "web.", "inbox.", "my.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPerson:
    """A person's name in its parts; ``full`` is one of the usual ways of writing it, ``latin_*`` are for addresses.

    ``community`` is the number of those whose names go together.
    """

    locale: str
    gender: str
    given: str
    family: str
    full: str
    latin_given: str
    latin_family: str
    born: date
    community: int = 0


def draw_person(locale: str, rng: random.Random, gender: str | None = None, *, like: NamedPerson | None = None) -> NamedPerson:
    """Draw a person of *locale*; *gender* is "female", "male" or any. The name could be one of the family of *like*."""
    words = locale_words(locale)
    gender = gender or rng.choice(GENDERS)
    given, family, community = words.name_of(gender, rng, like.community if like is not None else None)
    latin_given, latin_family = (words.latin.get(name) or latin_name(name) for name in (given, family))
    form = rng.choice(words.names_in(community, gender))
    return NamedPerson(
        locale=locale,
        gender=gender,
        given=given,
        family=family,
        full=form.format(given=given, family=family, latin_given=latin_given, latin_family=latin_family),
        latin_given=latin_given,
        latin_family=latin_family,
        born=draw_adult_birth_date(rng),
        community=community,
    )


def latin_name(name: str) -> str:
    """Return *name* as it is if it is in Latin letters, else letter by letter in them."""
    return name if plain_letters(name) else anyascii(name)


def plain_letters(text: str) -> str:
    """*text* in small ASCII letters, romanised from other scripts."""
    return "".join(c for c in anyascii(text).lower() if c.isalpha())


def ascii_words(text: str) -> str:
    """The words of *text* in small ASCII letters."""
    return " ".join(filter(None, map(plain_letters, text.split())))


def username_of(person: NamedPerson, rng: random.Random) -> str:
    """A user name made of the person's name."""
    given, family = plain_letters(person.latin_given), plain_letters(person.latin_family)
    forms = (
        f"{given}.{family}",
        f"{given}_{family}{digits(2, rng)}",
        f"{given[:1]}{family}{digits(rng.choice((1, 2, 4)), rng)}",
        f"{family}{given[:2]}{digits(2, rng)}",
        f"{given}{digits(3, rng)}",
    )
    return rng.choice(forms)[:30]


def email_of(person: NamedPerson, rng: random.Random) -> str:
    """An address at a domain that nobody owns."""
    return f"{username_of(person, rng)}@{rng.choice(_HOSTS)}{rng.choice(DOMAINS)}"
