"""Ten thousand people through the engine: names as frequent as chance has it, groups equal, numbers valid or kept, everything agrees."""

from __future__ import annotations

import marshal
import math
import re
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from importlib import import_module
from itertools import combinations
from typing import NamedTuple

import phonenumbers
import pytest
from stdnum import iban, luhn

from pii_values.names.index import builtin
from pii_values.names.pools import NamePools
from surrogates.casting.groups import GROUPS
from surrogates.documents import Document
from surrogates.engine import Engine, group_report
from surrogates.kinds.calendars import date_order
from surrogates.kinds.date_formats import parse
from surrogates.kinds.folding import folded
from surrogates.kinds.identifiers import RESERVED
from surrogates.kinds.phones import plan_of
from surrogates.leakage.collisions import expected_pairs, observed_pairs
from surrogates.mentions import Mention
from surrogates.seeds import below, mix, seed_of
from surrogates.settings import Settings

LOCALES = ("en_US", "en_GB", "nl_NL", "pt_BR", "sv_SE", "de_DE", "fr_FR", "es_ES", "it_IT", "pl_PL", "fi_FI")
PEOPLE = 10_000
LARGEST_SHARE = 0.005
POOLS = NamePools(builtin())
# What each document holds of its one person: the name in three forms, and all that must agree with it.
SLOTS = (
    ("full", "person", "full"),
    ("given", "person", "given"),
    ("family", "person", "family"),
    *((kind, kind, "") for kind in ("email", "username", "phone", "fax", "national_id", "tax_id", "birth_date", "birth_year", "age")),
    *((kind, kind, "") for kind in ("bank_account", "payment_card")),
)
# python-stdnum's module for the numbers of each country, and the numbers that authorities keep free, which it may reject.
MODULES = {
    ("NL", "national_id"): "nl.bsn", ("NL", "tax_id"): "nl.bsn", ("BR", "national_id"): "br.cpf", ("BR", "tax_id"): "br.cpf",
    ("SE", "national_id"): "se.personnummer", ("SE", "tax_id"): "se.personnummer", ("DE", "national_id"): "de.idnr",
    ("DE", "tax_id"): "de.idnr", ("FR", "national_id"): "fr.nir", ("FR", "tax_id"): "fr.nif", ("ES", "national_id"): "es.dni",
    ("ES", "tax_id"): "es.dni", ("IT", "national_id"): "it.codicefiscale", ("IT", "tax_id"): "it.codicefiscale",
    ("PL", "national_id"): "pl.pesel", ("PL", "tax_id"): "pl.nip", ("GB", "tax_id"): "gb.utr",
}  # fmt: skip
KEPT = {
    ("US", "national_id"): r"987-65-432\d|9\d\d-(?:0[1-9]|[1-4]\d)-(?!0000)\d{4}",
    ("US", "tax_id"): r"987-65-432\d|9\d\d-(?:0[1-9]|[1-4]\d)-(?!0000)\d{4}",
    ("GB", "national_id"): r"(?:BG|GB|KN|NK|NT|TN|ZZ|QQ) \d\d \d\d \d\d [A-D]",
    ("SE", "national_id"): r"\d{6}[-+]98\d\d",
    ("SE", "tax_id"): r"\d{6}[-+]98\d\d",
    ("FI", "national_id"): r"\d{6}[-A]9\d\d[0-9A-Y]",
    ("FI", "tax_id"): r"\d{6}[-A]9\d\d[0-9A-Y]",
}


class Told(NamedTuple):
    """What a text says of its person; ``group`` is what the engine gave them."""

    locale: str
    group: int
    values: dict[str, str]

    @property
    def country(self) -> str:
        return self.locale[3:]

    @property
    def gender(self) -> str:
        return GROUPS[self.group][0]

    @property
    def born(self) -> date:
        language = self.locale[:2]
        layout = parse(self.values["birth_date"], language, date_order(language, self.country), Settings().anchor)
        assert layout is not None
        assert layout.precision == "day"
        return layout.when


def document(number: int) -> Document:
    """One person's text."""
    text, mentions = "", []
    for name, kind, form in SLOTS:
        text += f"{name}: "
        mentions.append(Mention(len(text), len(text) + 2, kind, index="1" if kind == "person" else "", form=form))
        text += "<>\n"
    return Document(number, f"d{number}", text, "memory.txt", None, tuple(mentions))


class People(NamedTuple):
    """Everybody, and the reports of the batches."""

    told: list[Told]
    reports: list[dict[str, object]]


@pytest.fixture(scope="module")
def people() -> People:
    """10,000 people in batches of one locale each, all batches and so all of them balanced."""
    told: list[Told] = []
    reports = []
    for locale in LOCALES:
        count = 900 if locale != LOCALES[-1] else PEOPLE - len(told)
        engine = Engine(Settings(seed=20, locale=locale), POOLS)
        documents = [document(number) for number in range(len(told), len(told) + count)]
        gathered = engine.gather([engine.look(documents)])
        engine.take(gathered)
        groups = marshal.loads(gathered)[0]  # noqa: S302 - the engine wrote it a moment ago
        reports.append(group_report(gathered))
        for group, done in zip(groups, engine.fill(documents, 0), strict=True):
            texts = [done.text[one.new_start : one.new_end] for one in done.placed]
            told.append(Told(locale, group, dict(zip((name for name, _, _ in SLOTS), texts, strict=True))))
    return People(told, reports)


# Names and groups


def test_all_ten_groups_are_equal(people: People) -> None:
    assert Counter(one.group for one in people.told) == dict.fromkeys(range(10), PEOPLE // 10)
    assert [report["largest_difference"] for report in people.reports] == [0] * len(LOCALES)


def test_names_are_of_their_group(people: People) -> None:
    for one in people.told:
        gender, region = GROUPS[one.group]
        given, family = one.values["given"], one.values["family"]
        assert any(
            given in POOLS.given(country, gender) and family[1:] in _tails(country, gender) for country in set(POOLS.countries(region))
        ), one


@cache
def _tails(country: str, gender: str) -> frozenset[str]:
    """Family names without their first letter, which is a capital where the name stands alone."""
    return frozenset(name[1:] for name in POOLS.family(country, gender))  # type: ignore[arg-type]


def test_no_full_name_comes_twice_above_chance(people: People) -> None:
    """Pairs of equal full names are as many as even draws from the pools give, within four standard deviations of that count."""
    names = Counter(one.values["full"] for one in people.told)
    within = {number: expected_pairs(PEOPLE // 10, 1 / chance_of_same(number, number)) for number in range(10)}  # type: ignore[arg-type]
    across = {(a, b): (PEOPLE // 10) ** 2 * chance_of_same(a, b) for a, b in combinations(range(10), 2)}
    expected = sum(within.values()) + sum(across.values())
    assert observed_pairs(names) <= expected + 4 * math.sqrt(expected), (observed_pairs(names), expected)
    assert max(names.values()) <= 3


@pytest.mark.parametrize(("first", "second"), [(0x61, 0xFA), (1, 2), (7, 8)])
def test_two_draws_from_one_seed_tell_nothing_of_each_other(first: int, second: int) -> None:
    """The chi-squared of 32 × 32 cells has a mean of 1023 and a deviation of 45; the seeds are as the engine makes them."""
    seeds = [mix(mix(seed_of("personas"), 0xD0C), number) for number in range(50_000)]
    cells = Counter((below(mix(seed, first), 32), below(mix(seed, second), 32)) for seed in seeds)
    even = len(seeds) / 1024
    assert sum((cells[a, b] - even) ** 2 / even for a in range(32) for b in range(32)) < 1023 + 6 * 45


def chance_of_same(one: int, other: int) -> float:
    """The probability that somebody of each of two groups bears the same full name; names of several countries count in all of them."""
    return sum(
        share * other_share * len(givens & other_givens) * len(families & other_families) / (sizes * other_sizes)
        for share, givens, families, sizes in pools_of(one)
        for other_share, other_givens, other_families, other_sizes in pools_of(other)
    )


@cache
def pools_of(group: int) -> list[tuple[float, frozenset[str], frozenset[str], int]]:
    """For each country of a group how likely it is drawn, its given and family names, and how many full names they make."""
    gender, region = GROUPS[group]
    turns = Counter(POOLS.countries(region))
    found = []
    for country, count in turns.items():
        givens, families = frozenset(POOLS.given(country, gender)), frozenset(POOLS.family(country, gender))
        found.append((count / turns.total(), givens, families, len(givens) * len(families)))
    return found


def test_no_part_of_a_name_dominates(people: People) -> None:
    for part in ("given", "family"):
        counts = Counter(one.values[part] for one in people.told)
        assert counts.most_common(1)[0][1] <= LARGEST_SHARE * PEOPLE, (part, counts.most_common(3))
    words = Counter(word for one in people.told for word in re.split(r"[ -]", one.values["full"]) if word not in PARTICLES)
    assert words.most_common(1)[0][1] <= LARGEST_SHARE * PEOPLE, words.most_common(5)


PARTICLES = frozenset({"Al", "De", "de", "da", "dos", "van", "der", "bin", "El", "la"})  # parts of many families' names


# What agrees with the name


def test_addresses_and_usernames_are_made_of_the_name(people: People) -> None:
    for one in people.told:
        given, family = folded(one.values["given"]), folded(one.values["family"])
        assert given
        assert family
        local, _, domain = one.values["email"].partition("@")
        assert re.fullmatch(r"[a-z]+([._-]?[a-z]+)*[0-9]*", local), local
        assert domain.endswith((".example", ".test", ".invalid", "example.com", "example.org", "example.net"))
        letters = re.sub(r"[^a-z]", "", local)
        assert letters in {*_handles(given, family), *_handles(family, given)}, (given, family, local)
        assert one.values["username"] == local.replace("-", "_")


def _handles(first: str, second: str) -> set[str]:
    """Letters of an address that names a person: one name whole, of the other all, three letters or the first."""
    return {first + second, first + second[:1], first[:1] + second, first + second[:3], first[:3] + second}


def test_full_given_and_family_name_are_one_name(people: People) -> None:
    for one in people.told:
        full, given, family = (one.values[name] for name in ("full", "given", "family"))
        assert full in {f"{given} {family}", f"{given} {family[0].lower()}{family[1:]}"}


def test_age_year_and_date_of_birth_agree(people: People) -> None:
    last = Settings().anchor
    first = last - timedelta(days=730)  # a document's day lies within two years before the anchor
    for one in people.told:
        born = one.born
        assert one.values["birth_year"] == str(born.year)
        assert years_between(born, first) <= int(one.values["age"]) <= years_between(born, last)


def years_between(born: date, day: date) -> int:
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


# Numbers


@pytest.mark.parametrize("kind", ["national_id", "tax_id"])
def test_every_number_of_the_state_is_valid_or_kept(people: People, kind: str) -> None:
    checked: Counter[str] = Counter()
    for one in people.told:
        number, place = one.values[kind], (one.country, kind)
        if place in KEPT:
            assert one.country in RESERVED
            assert re.fullmatch(KEPT[place], number), number
            checked["kept"] += 1
        if place in MODULES:
            assert import_module(f"stdnum.{MODULES[place]}").is_valid(number), (place, number)
            checked["valid"] += 1
        assert place in KEPT or place in MODULES
    assert checked.total() >= PEOPLE


def test_the_check_character_of_finnish_numbers_is_right(people: People) -> None:
    from stdnum.fi import hetu

    finns = [one for one in people.told if one.country == "FI"]
    assert finns
    assert all(hetu.is_valid(one.values["national_id"], allow_temporary=True) for one in finns)


def decoders() -> dict[str, Callable[[str], tuple[str | None, date | None]]]:
    """What national ids tell of sex ("F" or "M") and birth date, read by python-stdnum."""
    from stdnum.fi import hetu
    from stdnum.it import codicefiscale
    from stdnum.pl import pesel
    from stdnum.se import personnummer

    def italian(number: str) -> tuple[str, date]:
        # Two digits of a year may be of either century.
        return codicefiscale.get_gender(number), codicefiscale.get_birth_date(number, minyear=1940)

    def finnish(number: str) -> tuple[str, date]:
        assert hetu.is_valid(number, allow_temporary=True)
        century = {"-": 1900, "A": 2000}[number[6]]
        return "M" if int(number[7:10]) % 2 else "F", date(century + int(number[4:6]), int(number[2:4]), int(number[:2]))

    return {
        "IT": italian,
        "FI": finnish,
        "PL": lambda number: (pesel.get_gender(number), pesel.get_birth_date(number)),
        "SE": lambda number: (personnummer.get_gender(number), personnummer.get_birth_date(number)),
    }


def test_sex_and_birth_date_in_national_ids_are_the_owners(people: People) -> None:
    known = decoders()
    read: Counter[str] = Counter()
    for one in people.told:
        if one.country in known:
            sex, born = known[one.country](one.values["national_id"])
            assert sex == one.gender[0].upper(), one
            assert born == one.born, one
            read[one.country] += 1
        elif one.country == "FR":
            number = one.values["national_id"].replace(" ", "")
            assert (number[0], number[1:5]) == ({"female": "2", "male": "1"}[one.gender], f"{one.born:%y%m}"), one
            read["FR"] += 1
    assert min(read[country] for country in ("IT", "FI", "PL", "SE", "FR")) >= 900


def test_letters_of_the_name_in_an_italian_tax_code_are_the_owners(people: People) -> None:
    for one in people.told:
        if one.country == "IT":
            family, given = (folded(one.values[name]).upper() for name in ("family", "given"))
            assert one.values["tax_id"][:6] == _three(family) + _three(given, skip=True), one


def _three(name: str, *, skip: bool = False) -> str:
    consonants = re.sub("[AEIOU]", "", name)
    if skip and len(consonants) > 3:
        consonants = consonants[0] + consonants[2:]
    return f"{consonants}{re.sub('[^AEIOU]', '', name)}XXX"[:3]


@pytest.mark.parametrize("kind", ["phone", "fax"])
def test_every_phone_number_is_valid_or_of_a_block_kept_for_fiction(people: People, kind: str) -> None:
    kept: Counter[str] = Counter()
    for one in people.told:
        text = one.values[kind]
        number = phonenumbers.parse(text, one.country)
        assert number.country_code == phonenumbers.country_code_for_region(one.country), (one.locale, text)
        if _is_kept(one.country, text):
            kept[one.country] += 1
        else:
            assert phonenumbers.is_valid_number_for_region(number, one.country), (one.locale, text)
    sizes = Counter(one.country for one in people.told)
    assert kept == {country: sizes[country] for country in kept}  # where a block is kept, all numbers are of it
    assert {"US", "GB", "SE", "FR", "DE"} <= kept.keys()


@cache
def _blocks(country: str) -> list[re.Pattern[str]]:
    plan = plan_of(country)
    if not plan.reserved:
        return []
    assert plan.source
    masks = (re.sub(r"[^0-9#%]", "", mask) for mask in (*plan.national, *plan.international))
    return [re.compile(mask.replace("#", "[0-9]").replace("%", "[1-9]")) for mask in masks]


def _is_kept(country: str, text: str) -> bool:
    digits = re.sub(r"[^0-9]", "", text)
    return any(block.fullmatch(digits) for block in _blocks(country))


TEST_CARDS = re.compile(r"(?:411111|401288|424242|400005|555555|510510|222300|601111)\d{10}|(?:378282|371449)\d{9}")


def test_payment_cards_are_test_cards_with_a_right_last_digit(people: People) -> None:
    for one in people.told:
        number = re.sub(r"[ -]", "", one.values["payment_card"])
        assert TEST_CARDS.fullmatch(number), number
        assert luhn.is_valid(number)


def test_bank_accounts_are_valid(people: People) -> None:
    for one in people.told:
        number = one.values["bank_account"]
        if one.country in {"US", "BR"}:  # no IBAN is in use there, or hardly
            assert sum(map(str.isdigit, number)) >= 5, number
        else:
            assert number.startswith(one.country)
            assert iban.is_valid(number), number
