"""One made-up person of a locale, and what is made of the name: user names and addresses."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date
from typing import Final

from anyascii import anyascii

from piiloom.pii_values.entity_values.birth_dates import draw_birth_date
from piiloom.pii_values.entity_values.locale_words import GENDERS, locale_words
from piiloom.pii_values.numbering.choices import digits
from piiloom.pii_values.numbering.reserved import DOMAINS

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
    latin_given, latin_family = (words.latin.get(name) or romanised(name) for name in (given, family))
    form = rng.choice(words.names_in(community, gender))
    return NamedPerson(
        locale=locale,
        gender=gender,
        given=given,
        family=family,
        full=form.format(given=given, family=family, latin_given=latin_given, latin_family=latin_family),
        latin_given=latin_given,
        latin_family=latin_family,
        born=draw_birth_date(rng),
        community=community,
    )


def romanised(name: str) -> str:
    """Return *name* as it is if it is in Latin letters, else letter by letter in them."""
    return name if plain_letters(name) else anyascii(name)


def plain_letters(text: str) -> str:
    """*text* in small ASCII letters, romanised from other scripts."""
    return "".join(c for c in anyascii(text).lower() if c.isalpha())


def plain_words(text: str) -> str:
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
