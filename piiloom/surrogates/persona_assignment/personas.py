"""Personas: drawing a person of the text, and writing the name in the forms and registers of the text.

The name fits every place in the text where it is inserted.

The form is the usual one for role and language: students are called by their given names, and a Dutch judgment uses initials and family
name. Forms: full, given, family, formal, initials, nickname, "family, given". A known original gives its own form: titles, initials,
order, capitals and signs stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from functools import cache
from itertools import islice
from typing import Final, Literal, NamedTuple

from pydantic import Field

from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import below, mix, part_seed
from piiloom.foundation.words import with_capital
from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.pii_values.names.pools import NamePools
from piiloom.pii_values.names.regions import Gender
from piiloom.surrogates.fitting import ANY, sounds, takes_genitive
from piiloom.surrogates.kinds.kind import FictitiousPerson
from piiloom.surrogates.known_names import NamedPart, is_family_alone, parts_of
from piiloom.surrogates.persona_assignment.groups import GROUPS

_TRIES: Final = 48  # names of one country that are tried until one is free and fits everywhere
_MOST_TAKEN: Final = 1000  # at this size the older half of a document's used names is forgotten, so that enough names are left
_COUNTRIES: Final = 8  # draws of a country in the region; after that, sound and genitive are ignored


class NameNeeds(NamedTuple):
    """What the surrounding text requires of a name.

    The sounds are ``ANY``, ``VOWEL`` or ``CONSONANT`` (see ``fitting``): what the name must begin with. The genitive flags say that
    an -s follows in the text, so the name must not end in a sibilant.
    """

    given_sound: int = ANY
    family_sound: int = ANY
    given_genitive: bool = False
    family_genitive: bool = False


NO_NEEDS: Final = NameNeeds()
Taken = dict[str, None]  # the names already used in a document, oldest first
# Country, given names, family names, number of given names, number of family names.
_Names = tuple[str, Sequence[str], Sequence[str], int, int]


class PersonaDrawer:
    """Draws people from the name pools. *country* (ISO 3166 alpha-2) is where they live."""

    def __init__(self, pools: NamePools, country: str) -> None:
        self._pools = pools
        self._country = country
        # The countries of each group, repeated by weight. Their names are looked up on first use.
        self._countries = [pools.countries(region) for _, region in GROUPS]
        self._names: list[list[_Names | None]] = [[None] * len(countries) for countries in self._countries]
        self._own: dict[tuple[str, Gender], _Names] = {}

    def draw(
        self, seed: int, group: int, anchor: date, value_id: str, taken: Taken, needs: NameNeeds = NO_NEEDS, origin: str | None = None
    ) -> FictitiousPerson:
        """Return the person that *seed* determines in *group* (an index into ``GROUPS``).

        Names in *taken* are avoided, and the new names are added to it. If no free name is found, a used one is repeated. When *taken*
        is full, its older half is dropped, so in a document with thousands of people two that are far apart may share a name.
        *origin* overrides the country that the names come from. Raises ``UsageError`` if that country has no names. The person's other
        values have a seed of their own, so that they do not give the name away.
        """
        if len(taken) >= _MOST_TAKEN:
            for name in list(islice(taken, _MOST_TAKEN // 2)):
                del taken[name]
        gender, region = GROUPS[group]
        names = self._names[group]
        given_seed, country_seed, own_seed = part_seed(seed)
        family_seed = given_seed >> 32
        for turn in range(_COUNTRIES):
            if origin:
                known = self._own.get((origin, gender)) or self._named(origin, gender)
            else:
                at = (country_seed >> 4 * turn) % len(names)  # each turn uses other bits of the seed
                known = names[at] or self._of_group(group, at)
            country, givens, families, how_many_given, how_many_family = known
            given, family = givens[given_seed % how_many_given], families[family_seed % how_many_family]
            if needs is NO_NEEDS and given not in taken and family not in taken:
                break
            given, one = _suited(givens, given_seed, taken, needs.given_sound, needs.given_genitive)
            family, two = _suited(families, family_seed, taken, needs.family_sound, needs.family_genitive)
            if (one and two) or origin:  # no other country to look in
                break
        taken[given] = taken[family] = None
        return FictitiousPerson(own_seed, gender, region, country, self._country, given, family, anchor, value_id=value_id)

    def _of_group(self, group: int, at: int) -> _Names:
        key = self._countries[group][at], GROUPS[group][0]
        found = self._names[group][at] = self._own.get(key) or self._named(*key)  # a country stands there up to ten times
        return found

    def _named(self, country: str, gender: Gender) -> _Names:
        """Return the pools of a country and gender. Raises ``UsageError`` if there are no names for it."""
        givens, families = self._pools.given(country, gender), self._pools.family(country, gender)
        if not givens or not families:
            raise UsageError(f"no names of {country} are known", remedy="Use --groups balanced, or choose another --locale or names index.")
        found = self._own[country, gender] = country, givens, families, len(givens), len(families)
        return found


def _suited(names: Sequence[str], seed: int, taken: Taken, sound: int, genitive: bool) -> tuple[str, bool]:
    """Try names in an order that *seed* determines, and return the first that is free and fits, with True.

    If none of ``_TRIES`` does, try all that come after the last one. If none fits, return a free one (or, failing that, the first one
    tried) with False.
    """
    first = names[below(seed, len(names))]
    if first not in taken and not sound and not genitive:
        return first, True

    def fits(name: str) -> bool:
        return name not in taken and sounds(name, sound) and (not genitive or takes_genitive(name))

    free = None
    for number in range(_TRIES):
        name = names[below(mix(seed, number), len(names))] if number else first
        if fits(name):
            return name, True
        free = free or (name if name not in taken else None)
    start = below(seed, len(names))
    rare = next((name for name in (*names[start:], *names[:start]) if fits(name)), None)  # few begin with an i
    if rare is not None:
        return rare, True
    return free or first, False


Style = Literal["full", "given", "family", "formal", "titled"]


class _Default(FileModel):
    first: Style
    later: Style


class _Register(FileModel):
    default: _Default
    tag: dict[Style, int] = Field(min_length=1)
    roles: dict[Style, list[str]] = Field(default={})


class _RegistersFile(FileModel):
    joiners: dict[str, str]
    registers: dict[str, _Register]


class NameRegister:
    """The usual name forms of one language, by role. Forms are keys of ``name_forms.SUBTYPES``."""

    def __init__(self, source: _Register) -> None:
        self._tag: tuple[str, ...] = tuple(_plain(style) for style, weight in source.tag.items() for _ in range(weight))
        self._default = (_plain(source.default.first), _plain(source.default.later))
        self._roles: dict[str, tuple[str, str]] = {}
        full = set(source.roles.get("full", ()))
        for role in full:
            self._roles[role] = ("full", self._default[1])
        for style, roles in source.roles.items():
            for role in roles if style != "full" else ():
                self._roles[role] = ("full" if role in full else style, style)

    def of_tag(self, seed: int) -> str:
        """Draw the form for a general tag such as "[NAME]", where each mention is a new person; weighted as in the data file."""
        return self._tag[below(seed, len(self._tag))]

    def of_role(self, role: str) -> tuple[str, str]:
        """Return the form for the first mention of a role in a document and the form for later mentions."""
        return self._roles.get(role, self._default)


def _plain(style: Style) -> str:
    return "full" if style == "titled" else style


@cache
def _file() -> _RegistersFile:
    return load_data("piiloom.surrogates", "registers.yaml", _RegistersFile)


def joiner_of(language: str) -> str:
    """Return the word that joins the names of two people in a language (ISO 639-1)."""
    return _file().joiners.get(language, "&")


@cache
def register_of(language: str) -> NameRegister:
    """Return the register of a language (ISO 639-1); the English one if it has none."""
    known = _file().registers
    return NameRegister(known.get(language) or known["en"])


SUBTYPES: Final[dict[str, str | None]] = {
    "full": "full_name",
    "formal": "full_name",
    "family_given": "full_name",
    "given": "first_name",
    "nick": "first_name",
    "family": "last_name",
    "initials": None,
    "given_initials": None,
    "middle": "first_name",
    "middle_initial": None,
    "second": "last_name",
    "birth": "last_name",
    "possessive": "full_name",
}


class _NicknamesFile(FileModel):
    nicknames: dict[str, str]


@cache
def _nicknames() -> dict[str, str]:
    return load_data("piiloom.surrogates", "nicknames.yaml", _NicknamesFile).nicknames


_EAST_ASIAN: Final = "\u3040"  # kana, Chinese characters and Hangul lie from here on


def initials(given: str) -> str:
    """Return the initials of a given name: "J.B." for "Jan Bart", "J.-P." for "Jean-Pierre".

    In a script without capitals this is the first character of each part, with a full stop.
    """
    parts = given.split()
    return "".join("-".join(f"{piece[0].upper()}." for piece in part.split("-") if piece) for part in parts)


def written(persona: FictitiousPerson, form: str) -> str:
    """Return the name of *persona* in *form*, a key of ``SUBTYPES``; any other form gives the full name."""
    return _FORMS.get(form, _full)(persona)


def _full(persona: FictitiousPerson) -> str:
    # Chinese, Japanese and Korean names in their own script: family name first, without a space.
    if persona.given[0] >= _EAST_ASIAN:
        return f"{persona.family}{persona.given}"
    return f"{persona.given} {persona.family}"


def _both_initials(persona: FictitiousPerson) -> str:
    last = persona.family.split()[-1:]
    return initials(persona.given) + "".join(f"{word[0].upper()}." for word in last)


_FORMS: Final[dict[str, Callable[[FictitiousPerson], str]]] = {
    "full": _full,
    "given": lambda persona: persona.given,
    # Without the given name before it, "van den Berg" is "Van den Berg".
    "family": lambda persona: with_capital(persona.family),
    "formal": lambda persona: f"{initials(persona.given)} {persona.family}",
    "initials": _both_initials,
    "given_initials": lambda persona: initials(persona.given),
    "nick": lambda persona: _nicknames().get(persona.given, persona.given),
    "family_given": lambda persona: f"{with_capital(persona.family)}, {persona.given}",
    "possessive": lambda persona: f"{_full(persona)}'s",
}
_SIBILANT: Final = frozenset("sxz")
_PLURAL: Final = re.compile(r"e?s\b", re.IGNORECASE)
_LETTERS: Final = "ABCDEFGHJKLMNPRSTVW"
_MIDDLE: Final = 0x3D
_TWO: Final = 2

Block = tuple[int, int, str]


def written_like(original: str, persona: FictitiousPerson, style: str, language: str = "") -> str:
    """Return the name of *persona* as *original* is written; *style* tells what a single word is ("given" or "family").

    The letters of a name are replaced block by block: given name, further initials, family name. All else of *original* is kept: titles,
    "the Smiths", "et al.". *language* is the text's.
    """
    words = parts_of(original, language)
    if not words:
        return persona.family
    out: list[str] = []
    at = 0
    for start, end, value in _blocks(original, words, persona, style):
        out.append(original[at:start])
        out.append(_cased(original[start:end], value))
        at = end
    plural = _PLURAL.match(original, at) if at and original[at - 1].isalpha() else None
    if plural is None:
        return "".join(out) + original[at:]
    ending = "es" if out[-1][-1] in _SIBILANT else "s"
    return "".join(out) + (ending.upper() if plural.group().isupper() else ending) + original[plural.end() :]


def _blocks(original: str, words: list[NamedPart], persona: FictitiousPerson, style: str) -> list[Block]:
    """Return start, end and new text of each part of the name in *original*, in text order."""
    comma = original.find(",", words[0].end)
    later = [word for word in words if word.start > comma] if comma >= 0 else []
    if later and len(later) < len(words):
        head = words[: len(words) - len(later)]
        return [(head[0].start, head[-1].end, persona.family), *_given_first(later, persona, alone=True)]
    if is_family_alone(original, words):
        return [(words[0].start, words[-1].end, persona.family)]
    if len(words) == 1:
        return [_single(words[0], persona, style)]
    return _given_first(words, persona, alone=False)


def _single(word: NamedPart, persona: FictitiousPerson, style: str) -> Block:
    text = word.text
    if len(text) == 1:
        return word.start, word.end, (persona.family if style == "family" else persona.given)[0]
    if len(text) == _TWO and text.isupper():
        return word.start, word.end, persona.given[0] + persona.family[0]
    return word.start, word.end, persona.given if style == "given" else persona.family


def _given_first(words: list[NamedPart], persona: FictitiousPerson, *, alone: bool) -> list[Block]:
    """Return the parts of a name that begins with the given name; *alone*: there is no family name in it."""
    first = words[0]
    single = len(first.text) == 1
    blocks = [(first.start, first.end, persona.given[0] if single else persona.given)]
    rest = words[1:]
    turn = 0
    while rest and len(rest[0].text) == 1 and (len(rest) > 1 or alone):
        letter = _LETTERS[mix(persona.seed, _MIDDLE + turn) % len(_LETTERS)]
        blocks.append((rest[0].start, rest[0].end, letter))
        rest, turn = rest[1:], turn + 1
    if rest and alone:
        blocks[0] = (first.start, rest[-1].end, persona.given)  # two given names after a comma
        return blocks[:1]
    if rest:
        only = len(rest) == 1 and len(rest[0].text) == 1
        blocks.append((rest[0].start, rest[-1].end, persona.family[0] if only else persona.family))
    return blocks


def _cased(old: str, new: str) -> str:
    """Return *new* in the capitals of *old*, where it has only capitals or none."""
    if old.islower():
        return new.lower()
    return new.upper() if old.isupper() else new[0].upper() + new[1:]
