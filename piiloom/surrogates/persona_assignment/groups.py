"""Groups from which personas are drawn, and the cues in a text that choose the group.

Groups (gender × UN region) are in exact balance within each role, as far as the texts leave the gender open. A first pass over the corpus
yields one byte per person (``OPEN``, ``FEMALE`` or ``MALE``), in input order. A seeded permutation of the positions then decides which
open people become women and which region each person is from. The result depends neither on the number of workers nor on the version of
a library.

Cues to gender are titles and kinship words before a name, and pronouns and nouns after it; each language has one file in ``data/cues``.
Words before a name are more reliable than words after it, because a pronoun may refer to somebody else.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Final

from pydantic import Field

from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import mix
from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import FileModel, load_data, load_yaml
from piiloom.pii_values.names.regions import REGIONS, Gender, Region
from piiloom.surrogates.documents import Mention

GENDERS: Final[tuple[Gender, ...]] = ("female", "male")
# A group's number is its index here. With equal weights, each group gets the same number of people.
GROUPS: Final[tuple[tuple[Gender, Region], ...]] = tuple((gender, region) for gender in GENDERS for region in REGIONS)
OPEN, FEMALE, MALE = 0, 1, 2
OF_DOCUMENT: Final = "group"  # names the group of a document beside the roles of its people
NO_GROUP: Final = 255  # of a document without people
CODES: Final[dict[Gender | None, int]] = {None: OPEN, "female": FEMALE, "male": MALE}

_GENDER_SALT, _REGION_SALT, _ROLE_SALT = 0x6E, 0x7E, 0x501E00
_GOLDEN: Final = 0x9E3779B97F4A7C15
_64_BITS: Final = 0xFFFFFFFFFFFFFFFF
_ROUNDS: Final = 6
_MOST_ROLES: Final = 254  # a byte holds the number of a role


@dataclass(frozen=True, slots=True)
class Weights:
    """Relative weights of the genders (order of ``GENDERS``) and regions (order of ``REGIONS``); equal weights give exact balance."""

    genders: tuple[float, float] = (1.0, 1.0)
    regions: tuple[float, float, float, float, float] = (1.0, 1.0, 1.0, 1.0, 1.0)

    @classmethod
    def parse(cls, text: str) -> Weights:
        """Parse weights such as ``"female=2,Africa=3"``; names that are left out weigh 1.

        Raises ``UsageError`` for unknown names, for numbers that are negative or not finite, and if all genders or all regions weigh 0.
        """
        found: dict[str, float] = {}
        names = {name.casefold(): name for name in (*GENDERS, *REGIONS)}
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, _, number = part.partition("=")
            key = names.get(name.strip().casefold())
            try:
                weight = float(number)
            except ValueError:
                weight = -1.0
            if key is None or not 0 <= weight < float("inf"):
                raise UsageError(f"{part!r} is not a weight", remedy=f"Write NAME=NUMBER with a name of {', '.join(names.values())}.")
            found[key] = weight
        genders = (found.get("female", 1.0), found.get("male", 1.0))
        a, b, c, d, e = (found.get(region, 1.0) for region in REGIONS)
        if not sum(genders) or not a + b + c + d + e:
            raise UsageError(
                "the weights of all genders or of all regions are 0", remedy="Give one gender and one region a weight above 0."
            )
        return cls(genders, (a, b, c, d, e))


def quotas(total: int, weights: Sequence[float], *, first: int = 0) -> list[int]:
    """Split *total* into whole shares in proportion to *weights*, by the largest remainder method.

    Ties are resolved in index order starting at *first*, cyclically.
    """
    whole = sum(weights)
    exact = [total * weight / whole for weight in weights]
    shares = [int(part) for part in exact]
    count = len(weights)
    # Round the remainders, so that floating-point error does not break ties.
    order = sorted(range(count), key=lambda i: (-round(exact[i] - shares[i], 9), (i - first) % count))
    for place in order[: total - sum(shares)]:
        shares[place] += 1
    return shares


def assign_groups(codes: bytes, seed: int, weights: Weights | None = None, roles: bytes = b"") -> bytes:
    """Return each person's group as an index into ``GROUPS``, one byte per person, in the order of *codes*.

    *codes* holds one byte per person (``OPEN``, ``FEMALE`` or ``MALE``). *roles* holds the number of each person's role: the people of
    each role are balanced among themselves, and what is left over of one role goes to the groups after those of the role before.
    """
    weights = weights or Weights()
    if len(set(roles)) < 2:
        return _assigned(codes, seed, weights, seed)
    parts: dict[int, bytearray] = {}
    for code, role in zip(codes, roles, strict=True):
        parts.setdefault(role, bytearray()).append(code)
    groups: dict[int, Iterator[int]] = {}
    placed = 0
    for role, part in sorted(parts.items()):
        groups[role] = iter(_assigned(bytes(part), mix(seed, _ROLE_SALT + role), weights, seed, placed))
        placed += len(part)
    return bytes(next(groups[role]) for role in roles)


def assign_by_document(codes: bytes, sizes: Sequence[int], seed: int, weights: Weights | None = None) -> tuple[bytes, bytes, bytes]:
    """Return each person's group if all people of a document have one, and the group and gender code of each document.

    *sizes* are the numbers of people in the documents, whose people follow one another in *codes*. Documents are balanced as
    ``assign_groups`` balances people; one without people has the group ``NO_GROUP``. Its people's gender is a document's, unless the
    text tells both: who is of the other gender than the document's is in that gender's group of the same region.
    """
    peoples = [codes[end - size : end] for size, end in zip(sizes, accumulate(sizes), strict=True)]
    told = [{code for code in people if code != OPEN} for people in peoples]
    own = bytes(found.pop() if len(found) == 1 else OPEN for found in told)
    dealt = iter(assign_groups(bytes(code for code, people in zip(own, peoples, strict=True) if people), seed, weights))
    documents = bytes(next(dealt) if people else NO_GROUP for people in peoples)
    groups = bytearray()
    for group, people in zip(documents, peoples, strict=True):
        same_region = (group, *(group % len(REGIONS) + number * len(REGIONS) for number in range(len(GENDERS))))  # by gender code
        groups += bytes(same_region[code] for code in people)
    return bytes(groups), documents, own


def _assigned(codes: bytes, seed: int, weights: Weights, first: int, placed: int = 0) -> bytes:
    """Assign the people of one role; *placed* people have a group already. *first* tells the group in which leftover people begin."""
    wanted = quotas(len(codes), weights.genders, first=(first + placed) & 1)[0] - codes.count(FEMALE)
    ranks = _shuffled(codes.count(OPEN), seed, _GENDER_SALT)
    men = bytes(code == MALE or (code == OPEN and next(ranks) >= wanted) for code in codes)
    start = (first + placed // len(GENDERS)) % len(REGIONS)
    ends, places = [], []
    for number in range(len(GENDERS)):
        count = men.count(number)
        ends.append(list(accumulate(quotas(count, weights.regions, first=start))))
        places.append(_shuffled(count, seed, _REGION_SALT + number))
        start += count % len(REGIONS)  # the second gender's leftover people go to the regions after those that got the first gender's
    return bytes(bisect_right(ends[number], next(places[number])) + number * len(REGIONS) for number in men)


def _shuffled(count: int, seed: int, salt: int) -> Iterator[int]:
    """Yield the numbers below *count* in an order that *seed* and *salt* determine; none is kept.

    A Feistel network permutes the numbers below a power of four. A result of *count* or more is put through the network again until
    it is below *count* (cycle walking: Black and Rogaway, Ciphers with Arbitrary Finite Domains, 2002).
    """
    half = max(1, ((count - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    a, b, c, d, e, f = (_scrambled(half, mix(seed, (salt << 8) + turn)) for turn in range(_ROUNDS))
    for place in range(count):
        value = place
        while True:
            left, right = value >> half, value & mask
            left ^= a[right]
            right ^= b[left]
            left ^= c[right]
            right ^= d[left]
            left ^= e[right]
            right ^= f[left]
            value = left << half | right
            if value < count:
                break
        yield value


def _scrambled(bits: int, key: int) -> list[int]:
    """Return what a round of the network with *key* makes of each number of so many *bits*.

    It is SplitMix64's finalizer over the number and *key*, of which the upper 32 bits mix best.
    """
    mask = (1 << bits) - 1
    made = []
    for value in range(1 << bits):
        z = value * _GOLDEN & _64_BITS ^ key
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _64_BITS
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _64_BITS
        made.append(z >> 32 & mask)
    return made


def role_name(role: str) -> str:
    """Return *role* as outputs name it: one word, "person" if there is none."""
    return "-".join(re.findall(r"[\w.]+", role)) or "person"


class Roles:
    """The roles of people, one byte per person in ``numbers``: the place of the role in ``names``, the last one for all further roles."""

    def __init__(self) -> None:
        self.numbers = bytearray()
        self.names: dict[str, int] = {}

    def add(self, role: str, people: int) -> None:
        """Note the *role* of some people."""
        known = self.names.get(role)
        if known is None:
            known = self.names[role] = min(len(self.names), _MOST_ROLES)
        self.numbers += bytes([known]) * people

    def extend(self, names: Sequence[str], numbers: bytes) -> None:
        """Add people whose roles are *numbers* of *names*."""
        for name in names:
            self.add(name, 0)
        self.numbers += numbers.translate(bytes(self.names[names[min(at, len(names) - 1)]] for at in range(256))) if names else b""


def spread_group_count(counts: Mapping[str, int]) -> int:
    """Return the difference between the largest and the smallest of *counts*; 0 if it is empty."""
    return max(counts.values()) - min(counts.values()) if counts else 0


AFTER: Final = 80  # code points after a mention within which a pronoun is taken to refer to the person
_BEFORE: Final = 26
_AGED_WITHIN: Final = 32
_AGED: Final = re.compile(r"[^\s-]+")
_SENTENCE_ENDS: Final = ".!?\n"
_BLANKS: Final = " \u00a0"
_BETWEEN: Final = " \u00a0\n\r\t"
_DOT_OR_BLANK: Final = "." + _BETWEEN
_CLOSED: Final = ',.;:!?)"”’…'  # signs right after a word
_OPENED: Final = "([\"'“‘«"
_WORD: Final = re.compile(r"\S+")
_ABBREVIATED: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]\.")  # the dots of "y.o." and "M.D." end no sentence


class _Words(FileModel):
    female: list[str]
    male: list[str]


class _CuesFile(FileModel):
    titles: _Words
    kin: _Words
    pronouns: _Words
    nouns: _Words
    professions: list[str] = Field(default=[])


@dataclass(frozen=True, slots=True)
class GenderCues:
    """The cue words of one language, in every spelling that may stand between blanks.

    Spellings are lower case, capitalized and upper case, each with and without a punctuation mark at the end.
    """

    before: dict[str, Gender]
    after: dict[str, Gender]
    nouns: dict[str, Gender]  # those of ``after`` that are neither pronouns nor kin
    titles: dict[str, Gender]  # those of ``before`` that are no kin
    professions: frozenset[str]  # titles of which a text may well have several people, in small letters and without a full stop
    words_after: frozenset[str]
    # The last three characters of the words in ``before``; of words shorter than that with the blank or sign before them.
    ends: frozenset[str]


@cache
def gender_cues(language: str) -> GenderCues | None:
    """Return the cues of a language (ISO 639-1), or None if there is no file for it."""
    source = files("piiloom.surrogates") / "data" / "cues" / f"{language}.yaml"
    if not source.is_file():
        return None
    known = load_yaml(source, _CuesFile)
    before = _spelled(_sides(known.titles, known.kin), ".")
    after = _spelled(_sides(known.pronouns, known.nouns), _CLOSED)
    kin = {*known.kin.female, *known.kin.male}
    nouns = {word: gender for word, gender in _sides(known.nouns).items() if word not in kin}
    return GenderCues(
        before,
        after,
        _spelled(nouns, _CLOSED),
        _spelled(_sides(known.titles), "."),
        frozenset(known.professions),
        frozenset(after),
        frozenset((sign + word)[-3:] for word in before for sign in _BETWEEN + _OPENED),
    )


def _sides(*groups: _Words) -> dict[str, Gender]:
    found: dict[str, Gender] = {}
    for group in groups:
        found.update(dict.fromkeys(group.female, "female"))
        found.update(dict.fromkeys(group.male, "male"))
    return found


def _spelled(words: dict[str, Gender], signs: str) -> dict[str, Gender]:
    found: dict[str, Gender] = {}
    for word, gender in words.items():
        for form in (word, word.capitalize(), word.upper(), word.replace("'", "’")):
            found[form] = gender
            found.update((form + sign, gender) for sign in signs)
    return found


def gender_before(text: str, start: int, cues: GenderCues) -> Gender | None:
    """Return the gender indicated by a title or kinship word right before *start*; an initial may stand between.

    Return None if there is no such word.
    """
    words = _words_before(text, start, cues)
    if not words:
        return None
    last = words[-1]
    if len(last) == 2 and last[1] == "." and last[0].isupper() and len(words) > 1 and last not in cues.before:
        last = words[-2]
    return cues.before.get(last) or cues.before.get(last.lstrip(_OPENED))


def title_before(text: str, start: int, cues: GenderCues) -> str:
    """Return the title right before *start* that tells a gender, in small letters and without its full stop, or ""."""
    words = _words_before(text, start, cues)
    word = words[-1].lstrip(_OPENED) if words else ""
    return word.casefold().rstrip(".") if word in cues.titles else ""


def _words_before(text: str, start: int, cues: GenderCues) -> list[str]:
    """Return the words right before *start*; none if the last one cannot be a cue word, as most do not end like any."""
    if start < 2 or text[start - 1] not in _BLANKS:
        return []
    # An initial may stand after the cue word, or a second blank.
    if start > 3 and text[start - 4 : start - 1] not in cues.ends and text[start - 2] not in _DOT_OR_BLANK:
        return []
    return text[max(0, start - _BEFORE) : start].split()


def gender_after(text: str, end: int, limit: int, cues: GenderCues) -> Gender | None:
    """Return the gender of the first cue word between *end* and *limit*, or None.

    The caller sets *limit* to ``AFTER`` code points after *end* or to the next person, whichever comes first.
    """
    window = text[end:limit]
    if cues.words_after.isdisjoint(window.split()):
        return None
    for match in _WORD.finditer(window):
        gender = cues.after.get(match[0])
        if gender is None or _cut(text, end, limit, match):
            continue
        # After two sentence ends, a pronoun more likely refers to somebody else.
        before = window[: match.start()]
        return gender if sum(map(before.count, _SENTENCE_ENDS)) - len(_ABBREVIATED.findall(before)) < 2 else None
    return None


def gender_after_age(text: str, end: int, cues: GenderCues) -> Gender | None:
    """Return the gender of the noun that follows an age at once, up to *end*: "-year-old woman", " y.o. male"; None if there is none."""
    for match in _AGED.finditer(text, end, end + _AGED_WITHIN):
        gender = cues.nouns.get(match[0])
        if gender is not None:
            return gender
        if match[0].endswith((",", ".")) and not _ABBREVIATED.search(match[0]):
            return None
    return None


def _cut(text: str, end: int, limit: int, match: re.Match[str]) -> bool:
    """Whether the word is only a part of one: the mention or *limit* cuts "her" off "hers", or "man" off "chairman"."""
    begins = match.start() == 0 and text[max(end - 1, 0) : end + 1].isalnum() and end > 0
    ends = end + match.end() == limit < len(text) and text[limit - 1 : limit + 1].isalnum()
    return begins or ends


_ANNOUNCED_WITHIN: Final = 60  # code points before a mention within which it is announced
_NEAR: Final = 500  # code points before it within which the people are named


class _JointlyFile(FileModel):
    jointly: list[str]
    against: list[str]


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    known = load_data("piiloom.surrogates", "jointly.yaml", _JointlyFile)
    announcing, between = any_of(known.jointly), any_of(known.against)
    # Between the word and the mention stand a few more words at most, and no end of a sentence.
    return re.compile(rf"\b(?:{announcing})\b[^.;\n\[\]<>]*$", re.IGNORECASE), re.compile(rf"\b(?:{between})\b", re.IGNORECASE)


def announced_together(text: str, start: int) -> bool:
    """Whether the text right before *start* says that what follows stands for several people together."""
    return _patterns()[0].search(text[max(0, start - _ANNOUNCED_WITHIN) : start]) is not None


def named_before(text: str, number: int, mentions: Sequence[Mention], numbers: Sequence[int]) -> list[int]:
    """Return the mentions of people on the same side of the case, in the same paragraph, before mention *number*, in text order.

    *numbers* are the numbers of all mentions of people.
    """
    start = mentions[number].start
    first = max(0, start - _NEAR)
    first = max(first, text.rfind("\n\n", first, start))
    for found in _patterns()[1].finditer(text, first, start):
        first = found.end()
    place = bisect_left(numbers, number)
    found_before = []
    while place and mentions[numbers[place - 1]].start >= first:
        place -= 1
        found_before.append(numbers[place])
    return found_before[::-1]
