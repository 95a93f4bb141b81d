"""What rules of numbers draw from: the holder of an id, random choices, check digits by python-stdnum, and groups of digits.

The modules of python-stdnum, and those of the rules, are imported on first use. Here are also the ranges, banks, domains and networks that
belong to nobody, as authorities keep them free or as they are not given out. python-stdnum rightly rejects some of the ids as invalid.
Countries that are not in ``IDS`` reserve no range for tests.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import cache
from importlib import import_module
from typing import Final, NamedTuple, Protocol

# By country: the range that its national ids are drawn from, and who says that it is free.
IDS: Final = {
    "US": ("987-65-4320 to 4329, and area 900-999 with group 01-49", "Social Security Administration: never assigned (RM 10201.035)"),
    "CA": ("social insurance numbers that begin with 0", "Service Canada: not assigned to people"),
    "GB": (
        "NHS 999 000 0000 to 999 999 9999; NI prefixes BG, GB, KN, NK, NT, TN, ZZ and QQ",
        "NHS Digital test range; HMRC manual NIM39110",
    ),
    "SE": ("birth numbers 980 to 999", "Skatteverket: personal numbers for tests"),
    "FI": ("individual numbers 900 to 999", "Digital and Population Data Services Agency: temporary and test numbers"),
    "NO": ("birth date with 80 added to the month", "Skatteetaten: synthetic people (Tenor)"),
    "SG": ("last letters K to X behind S and T", "the series of F and G has them; no S or T card does"),
}
# Bank codes of four letters that are not in the SWIFT directory, for account numbers that begin with a bank code.
BANKS: Final = ("HRTW", "LMBK", "QVST", "RDGE", "WLKN", "ZPHR", "KLDR", "BRXT", "FNWK", "TRVX")
DOMAINS: Final = ("example.com", "example.org", "example.net")  # RFC 2606
# Endings of host names under which nobody can register a name: RFC 2606, and ICANN's board resolution 2018.02.04.12 (never delegated).
ENDINGS: Final = ("example", "example", "mail", "mail", "home", "test")
# Before a domain; names of made-up sites.
HOSTS: Final = (*("",) * 4, *"mail. post. inbox. home. webmail. my. mx. box. office. net. team. email.".split())
SITE_NAMES: Final = (
    "amber arrow aspen birch bluebird breeze cedar clover cobalt comet copper coral crane cricket dahlia daisy delta dune "
    "ember falcon fern finch flint fox gale garnet ginger glacier harbor hazel heron indigo ivy jade jasper juniper kestrel "
    "lark laurel lemon lily linden lotus lynx maple marble meadow mint moss nectar nova oak olive onyx opal orchid otter "
    "pearl pebble pepper pine plum poppy quartz quill raven reed ridge river robin rowan saffron sage sienna silver sparrow "
    "spruce stone swan teal thistle tulip violet walnut willow wren zephyr"
).split()
NETWORKS: Final = ("192.0.2", "198.51.100", "203.0.113")  # RFC 5737
NETWORK_V6: Final = "2001:db8"  # RFC 3849


class NumberChoices(Protocol):
    """A source of random choices.

    A source that has a seed gives each *salt* a result of its own, in any order. A generator ignores the salt and gives the next result;
    so the order in which a rule makes its choices must not change either.
    """

    def number(self, salt: int, low: int, high: int) -> int:
        """Draw a number from *low* to *high*, both included."""

    def digits(self, salt: int, count: int) -> str:
        """Draw *count* digits."""

    def serial(self, salt: int, count: int) -> str:
        """Draw *count* digits, the first of which is not 0."""

    def one_of(self, salt: int, items: Sequence[str]) -> str:
        """Draw one of *items*; a string is a sequence of characters."""


class Stream(NamedTuple):
    """Choices in the order of a random generator."""

    rng: random.Random

    def number(self, salt: int, low: int, high: int) -> int:  # noqa: ARG002 - a generator needs no salt
        """As in ``NumberChoices``."""
        return self.rng.randint(low, high)

    def digits(self, salt: int, count: int) -> str:  # noqa: ARG002
        """As in ``NumberChoices``."""
        return digits(count, self.rng)

    def serial(self, salt: int, count: int) -> str:
        """As in ``NumberChoices``."""
        return str(self.number(salt, 1, 9)) + digits(count - 1, self.rng)

    def one_of(self, salt: int, items: Sequence[str]) -> str:  # noqa: ARG002
        """As in ``NumberChoices``."""
        return self.rng.choice(items)


def digits(count: int, rng: random.Random) -> str:
    """*count* random digits."""
    return f"{int(rng.random() * 10**count):0{count}d}"


class Holder(NamedTuple):
    """The person whose id is drawn. ``given`` and ``family`` are ASCII capitals, "" if they cannot be transliterated or are not known.

    A number may tell that its holder is a hundred years old; ``anchor`` is the day of that.
    """

    choices: NumberChoices
    born: date
    female: bool
    given: str
    family: str
    anchor: date
    region: str = ""  # whose citizen, as two letters; "" if it is not known

    @property
    def since_2000(self) -> bool:
        """Whether the holder was born in 2000 or later."""
        return self.born.year >= 2000

    def sex_digit(self, since_2000: int, before: int) -> int:
        """Return the digit for sex and century: *since_2000* or *before* for men, by year of birth, and one more for women."""
        return (since_2000 if self.since_2000 else before) + self.female

    def number(self, salt: int, low: int, high: int) -> int:
        """Draw a number from *low* to *high*, both included."""
        return self.choices.number(salt, low, high)

    def digits(self, salt: int, count: int) -> str:
        """Draw *count* digits."""
        return self.choices.digits(salt, count)

    def serial(self, salt: int, count: int) -> str:
        """Draw *count* digits, the first of which is not 0."""
        return self.choices.serial(salt, count)

    def one_of(self, salt: int, items: Sequence[str]) -> str:
        """Draw one of *items*; a string is a sequence of characters."""
        return self.choices.one_of(salt, items)

    def sexed(self, salt: int, low: int, high: int, *, male_odd: bool = True) -> int:
        """Draw a number from *low* to *high* that is odd for men and even for women, or the reverse with ``male_odd=False``."""
        number = self.number(salt, low, high)
        odd = self.female != male_odd
        return number if number % 2 == odd else number ^ 1 if low <= number ^ 1 <= high else number - 1 if number > low else number + 1


# By the name that catalogues use before the colon, the module; the others are named as their modules are.
_MODULES: Final = {
    **dict.fromkeys(("western_european_ids", "eastern_european_ids", "nordic_ids", "belgian_ids", "polish_ids"), "european_ids"),
    **dict.fromkeys(("american_ids", "asian_ids", "pacific_ids"), "overseas_ids"),
    **dict.fromkeys(("international_ids", "wallets", "network_ids", "credentials"), "accounts"),
}


@cache
def rule_of(place: str) -> Callable[[Holder], str]:
    """Return the rule of an id named *place*, as "region:function" ("eastern_european_ids:pesel"); its module is imported on first use."""
    region, _, name = place.partition(":")
    rule: Callable[[Holder], str] = getattr(import_module(f"piiloom.pii_values.numbering.{_MODULES.get(region, region)}"), name)
    return rule


TURNS: Final = range(60)  # attempts to find a body that has a check digit


@cache
def _rule(place: str) -> Callable[[str], object]:
    module, _, name = place.partition(":")
    rule: Callable[[str], object] = getattr(import_module(f"stdnum.{module}"), name or "calc_check_digit")
    return rule


def check_of(body: str, place: str) -> str:
    """Return the result of a stdnum function on *body*, as text.

    *place* is a module of stdnum whose ``calc_check_digit`` is called ("pl.pesel"), or module and function ("pl.nip:checksum").
    """
    return str(_rule(place)(body))


def with_check(body: str, place: str, blank: str = "") -> str:
    """Return *body* with its check digits appended. *blank* is the filler that the rule expects in their place."""
    return body + check_of(body + blank, place)


def first_checked(bodies: Iterable[str], place: str, blank: str = "") -> str:
    """Return the first of *bodies* that has a single check digit, with it; under modulo 11 rules one in eleven has none.

    Raises ``AssertionError`` if none has one.
    """
    for body in bodies:
        check = check_of(body + blank, place)
        if len(check) == 1:
            return body + check
    raise AssertionError  # practically impossible with as many bodies as in TURNS


def completed(body: str, module: str, count: int) -> str | None:
    """Return *body* with the first *count* check digits that ``stdnum.<module>`` accepts; None if it accepts none."""
    accepts = _rule(f"{module}:is_valid")
    return next((number for tail in range(10**count) if accepts(number := f"{body}{tail:0{count}d}")), None)


def in_shape(number: str, shape: str) -> str:
    """Format *number* by *shape*, in which each # stands for one of its characters: ("123456", "###-###") gives "123-456"."""
    return shape.replace("#", "{}").format(*number)


def in_groups(number: int, sign: str, *, pairs: bool) -> str:
    """Write *number* with *sign* between thousands; with *pairs*, as in India, the digits above them are grouped in twos: "9,60,000"."""
    if not pairs or number < 100_000:
        return f"{number:,}".replace(",", sign)
    head, tail = divmod(number, 1000)
    found = []
    while head:
        head, pair = divmod(head, 100)
        found.append(f"{pair:02d}" if head else str(pair))
    return sign.join([*reversed(found), f"{tail:03d}"])
