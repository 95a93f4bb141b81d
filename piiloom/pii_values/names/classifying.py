"""Estimate gender, country and UN region of a name from its parts and a names index.

Let s_g(c) and s_f(c) be the shares of bearers of the given and the family name who live in country c. Then

    P(c) ∝ (s_g(c) + ε) · (s_f(c) + ε) with ε = 0.005

where the factor of a part that is not in the index is constant. A region's share is the sum over its countries. The gender's share
is that among bearers of the given name; if that is unknown, the form of the family name (Ivanova) decides. Both orders of the parts
are compared by how well the parts are known and how much their countries overlap. For countries that a large index lacks (Vietnam,
the Pacific), the built-in index is used.

Split a full name into parts with nameparser, with corrections for names from Bangladesh, India and Pakistan it takes for titles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from piiloom.foundation.errors import DataError, UsageError
from piiloom.pii_values.names.index import NamesIndex, builtin, open_names
from piiloom.pii_values.names.regions import Gender, borne_by, region_of

# Short forms of the given name Mohammed, which nameparser takes for titles or does not expand.
_SHORTENED: Final = {"md": "Mohammed", "mohd": "Mohammed", "muhd": "Mohammed", "mhd": "Mohammed", "md.": "Mohammed", "mohd.": "Mohammed"}
_FEMALE: Final = frozenset("mrs ms miss lady dame madam mme mlle smt smt. mst mst. sra señora frau mevrouw signora begum".split())
_MALE: Final = frozenset("mr sir lord mister shri sri shree sr señor herr meneer monsieur signor".split())
_HONORIFICS: Final = frozenset("smt smt. mst mst. shri sri shree ch ch. km kum begum hj haji hajah".split())


class Parts(NamedTuple):
    """The parts of a name.

    ``given``: the words of all given names in order. ``gender``: the gender that a title implies ("F", "M"), else None. ``first``: the
    first name as one text ("Abdul Rahman"), without middle names.
    """

    title: str
    given: tuple[str, ...]
    family: str
    suffix: str
    gender: str | None
    first: str


def parted(name: str) -> Parts:
    """Return the parts of *name*, assuming Western order unless there is a comma."""
    human_name = _parser()
    words = name.split()
    titles = []
    while len(words) > 1 and words[0].casefold() in _HONORIFICS:
        titles.append(words.pop(0))
    shortened = _SHORTENED.get(words[0].casefold()) if len(words) > 1 else None
    if shortened is not None:
        words[0] = shortened
    found = human_name(" ".join(words)).as_dict()
    given = (*found["first"].split(), *found["middle"].split())
    title = " ".join([*titles, *found["title"].split()])
    return Parts(title, given, found["last"], found["suffix"], _told(title), found["first"])


def _parser() -> Any:
    try:
        from nameparser import HumanName  # noqa: PLC0415 - optional, needed only here
    except ImportError as error:
        raise UsageError("the package nameparser is not installed", remedy="Run: pip install nameparser") from error
    return HumanName


def _told(title: str) -> str | None:
    words = {word.casefold().rstrip(".") for word in title.split()}
    if words & _FEMALE:
        return "F"
    return "M" if words & _MALE else None


Known = Literal["both", "given", "family", "none"]
Shares = Mapping[str, float]
_SMOOTHING: Final = 0.005
_SHOWN: Final = 3
# The reversed order of the parts is used if it fits better by this factor.
_REVERSED: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NameFacts:
    """What is known about a name. ``known``: the parts found in the index. Shares are probabilities; None or empty if unknown."""

    name: str
    title: str
    given: str
    family: str
    suffix: str
    known: Known
    gender: Gender | None
    gender_share: float | None
    countries: tuple[tuple[str, float], ...]
    region: str | None
    region_share: float | None

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return asdict(self) | {"countries": [{"country": code, "share": share} for code, share in self.countries]}


def read_name_list(file: Path) -> list[str]:
    """Return the names of a text file with one name a line. Raises ``DataError`` if it cannot be read, or has none."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or 'not a file'}", where=str(file), remedy="Check the path.") from error
    except UnicodeDecodeError as error:
        raise DataError("is not UTF-8 text", where=str(file), remedy="Save the file as UTF-8.") from error
    names = [line.strip() for line in text.splitlines() if line.strip()]
    if not names:
        raise DataError("has no name", where=str(file), remedy="Write one name a line.")
    return names


class Classifier:
    """Classifies names by an index (that of ``open_names`` when None)."""

    def __init__(self, index: NamesIndex | None = None) -> None:
        self._index = index if index is not None else open_names()
        self._small = self._index if self._index.where == "built-in" else builtin()
        self._lacking = frozenset(self._small.countries()) - frozenset(self._index.countries())

    @property
    def source(self) -> str:
        """What the index was made of."""
        return self._index.source

    def classify(self, name: str) -> NameFacts:
        """Estimate the facts of *name*; never raises, whatever the text."""
        parts = parted(name)
        given, family = self._ordered(parts)
        first, last = self._shares("first", given), self._shares("last", (family,) if family else ())
        countries = _combined(first, last)
        gender, share = self._gender(parts, given, family, countries)
        regions: dict[str, float] = {}
        for code, part in countries.items():
            regions[region_of(code)] = regions.get(region_of(code), 0.0) + part
        region = max(regions, key=lambda key: (regions[key], key)) if regions else None
        top = sorted(countries.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN]
        return NameFacts(
            name=name,
            title=parts.title,
            given=" ".join(given),
            family=family,
            suffix=parts.suffix,
            known="both" if first and last else "given" if first else "family" if last else "none",
            gender=gender,
            gender_share=share,
            countries=tuple((code, round(part, 3)) for code, part in top),
            region=region,
            region_share=round(regions[region], 3) if region else None,
        )

    def _ordered(self, parts: Parts) -> tuple[tuple[str, ...], str]:
        """Return (given names, family name), swapped if the family name seems to come first."""
        if not parts.given or not parts.family:
            return parts.given, parts.family
        turned = ((*parts.given[1:], parts.family), parts.given[0])
        if self._fit(*turned) > _REVERSED * self._fit(parts.given, parts.family):
            return turned
        return parts.given, parts.family

    def _fit(self, given: Sequence[str], family: str) -> float:
        first, last = self._shares("first", given), self._shares("last", (family,))
        return sum((first.get(code, 0.0) + _SMOOTHING) * (last.get(code, 0.0) + _SMOOTHING) for code in {*first, *last})

    def _shares(self, kind: Literal["first", "last"], names: Sequence[str]) -> Shares:
        """Return the shares by country of the first spelling of *names* that is known; empty if none is."""
        for spelling in _spellings(names, last=kind == "last"):
            large = shares_by_country(self._index, kind, spelling)
            small = shares_by_country(self._small, kind, spelling) if self._lacking else {}
            extra = {code: share for code, share in small.items() if code in self._lacking}
            if large or small:
                rest = 1.0 - sum(extra.values())
                return {code: share * rest for code, share in (large or small).items() if code not in extra} | extra
        return {}

    def _gender(self, parts: Parts, given: Sequence[str], family: str, countries: Shares) -> tuple[Gender | None, float | None]:
        if parts.gender is not None:
            return ("female" if parts.gender == "F" else "male"), 1.0
        for spelling in _spellings(given, last=False):
            for index in dict.fromkeys((self._index, self._small)):
                share = female_share(index, spelling)
                if share is not None:
                    return ("female", round(share, 3)) if share >= 0.5 else ("male", round(1 - share, 3))
        if countries and family:
            told = borne_by(family, max(countries, key=lambda code: (countries[code], code)))
            if told is not None:
                return told, 1.0
        return None, None


def _spellings(names: Sequence[str], *, last: bool) -> Iterable[str]:
    """Yield the spellings to look up: all words joined in three ways, then single words (given: first one first; family: last first)."""
    words = [word for name in names for word in name.split()]
    if len(words) > 1:
        yield " ".join(words)
        yield "-".join(words)
        yield words[0] + "".join(word.lower() for word in words[1:])
    elif words and "-" in words[0]:
        yield words[0]
        yield words[0].replace("-", " ")
        head, _, tail = words[0].partition("-")
        yield head + tail.lower()
        yield head
    yield from reversed(words) if last else words


def shares_by_country(index: NamesIndex, kind: Literal["first", "last"], name: str) -> dict[str, float]:
    """Return the shares of the bearers of *name* by country (alpha-2), the mean of all its spellings; empty if it is unknown."""
    table = index.first if kind == "first" else index.last
    numbers = table.like(name)
    found: dict[str, float] = {}
    for number in numbers:
        for place in table.places(number):
            found[place.country] = found.get(place.country, 0.0) + place.share / 1000 / len(numbers)
    return found


def female_share(index: NamesIndex, name: str) -> float | None:
    """Return the share of women among the bearers of the first name *name*; None if it or their gender is unknown."""
    female = male = 0
    for number in index.first.like(name):
        one, other = index.first.genders(number)
        female, male = female + (one or 0), male + (other or 0)
    return female / (female + male) if female + male else None


def _combined(first: Shares, last: Shares) -> dict[str, float]:
    if not first and not last:
        return {}
    both = {code: (first.get(code, 0.0) + _SMOOTHING) * (last.get(code, 0.0) + _SMOOTHING) for code in {*first, *last}}
    total = sum(both.values())
    return {code: both[code] / total for code in sorted(both)}


@cache
def _standard() -> Classifier:
    return Classifier()


def classify(name: str, index: NamesIndex | None = None) -> NameFacts:
    """Classify one name. For many names with a custom index, create a ``Classifier`` instead."""
    return (_standard() if index is None else Classifier(index)).classify(name)
