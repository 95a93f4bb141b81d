"""A kind of values, and what a value is drawn from: ``Draw``, its owner, and the seeds and helpers that the drawing functions share.

All values of a fictitious person, who replaces the person of one cluster of mentions, agree with each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final, Literal, NamedTuple

from piiloom.foundation.seeding import below, mix, seed_of
from piiloom.pii_values.names.regions import Gender

_BIRTH: Final = 0xB1
_OTHERS: Final = 0x07
_ADULT_DAYS: Final = (19 * 366, 79 * 365)  # default range of the age on the anchor, in days: 19 to 78 years


@dataclass(slots=True, eq=False)
class FictitiousPerson:
    """A fictitious person. ``gender`` and ``region`` (a UN M49 region) make the group.

    ``origin`` is the country whose names they have, ``country`` the one they live in (ISO 3166 alpha-2). Equal seeds give equal
    people. ``born`` is drawn on first access, unless the text gives an age or a birth date. ``told_age`` is the first age that the text
    told before it was replaced, ``told_birth``: it told the birth date.
    """

    seed: int
    gender: Gender
    region: str
    origin: str
    country: str
    given: str
    family: str
    anchor: date
    _born: date | None = field(default=None, kw_only=True)
    value_id: str = field(default="", kw_only=True)
    told_age: int | None = field(default=None, kw_only=True)
    told_birth: bool = field(default=False, kw_only=True)

    def again(self, turn: int) -> FictitiousPerson:
        """Return this person with other choices: for a second phone number, address … of theirs."""
        return replace(self, seed=mix(self.seed, _OTHERS + turn), _born=self.born)

    @property
    def born(self) -> date:
        """The day of birth."""
        if self._born is None:
            self._born = adult_birth_date(self.anchor, mix(self.seed, _BIRTH))
        return self._born

    @born.setter
    def born(self, day: date) -> None:
        """Set the birth date known from the text. Do so before drawing any value that depends on it."""
        self._born = day

    @property
    def age(self) -> int:
        """Age in completed years on the anchor date."""
        return self.anchor.year - self.born.year - ((self.anchor.month, self.anchor.day) < (self.born.month, self.born.day))


def adult_birth_date(anchor: date, seed: int) -> date:
    """Draw the birth date of somebody of 19 to 78 years on *anchor*."""
    youngest, oldest = _ADULT_DAYS
    return anchor - timedelta(days=youngest + below(seed, oldest - youngest))


class Draw(NamedTuple):
    """Everything a value may depend on. Equal draws give equal values in every process.

    ``country`` (ISO 3166 alpha-2) and ``language`` (ISO 639-1) are those of the text. ``owner`` is the person whom the value belongs
    to. ``shift`` is the number of days by which known dates move. Dates that the text does not tell are drawn relative to ``anchor``.
    ``day`` is the day of a date whose order among the others the text states.
    ``original`` is the replaced value where it is known, ``form`` the variant of the kind, ``index`` the placeholder's number.
    ``style`` is the seed of the document's ways of writing.
    """

    seed: int
    country: str
    language: str
    anchor: date
    shift: int
    owner: FictitiousPerson | None = None
    original: str = ""
    form: str = ""
    index: str = ""  # type: ignore[assignment]  # hides tuple.index, which is not used
    day: date | None = None
    style: int = 0


Owner = Literal["person", "document", "none"]
Drawing = Callable[[Draw], str]

# What the form of a place begins with, if the text names its region, or its country.
WITHIN: Final = "in:"
ELSEWHERE: Final = "of:"
_SHOUTED: Final = 2  # with at least this many letters, all capitals are a style and not just an initial


class SurrogateKind(NamedTuple):
    """A kind of value and the function that draws it.

    ``entity_type`` and ``subtype`` are those of the taxonomy (subtype None: none fits). ``owner`` says whose facts the value must agree
    with: a person's, the document's or nobody's.
    """

    name: str
    entity_type: str
    subtype: str | None
    owner: Owner
    draw: Drawing


def owned_seed(draw: Draw, salt: int) -> int:
    """Return the seed of a value that an owner has only once; without an owner, derive it from the draw's own seed."""
    owner = draw.owner
    return mix(draw.seed if owner is None else owner.seed, salt)


def numbered_seed(draw: Draw, salt: int) -> int:
    """As ``owned_seed``, for values of which a person may have several: ``draw.index`` distinguishes them."""
    seed = owned_seed(draw, salt)
    return mix(seed, seed_of(draw.index)) if draw.index else seed


def style_seed(draw: Draw, salt: int) -> int:
    """Return a seed for the style of writing, which all values of one document share.

    It must not depend on ``draw.shift``: a reader sees the style, and should learn nothing of the shift.
    """
    return mix(draw.style, salt)


def home_of(draw: Draw) -> str:
    """Return the country (ISO 3166 alpha-2) for the value's numbers and addresses: the one told beside it, the owner's, else the text's."""
    if draw.form.startswith(ELSEWHERE):
        return draw.form.removeprefix(ELSEWHERE)
    return draw.country if draw.owner is None else draw.owner.country


def cased_like(original: str, value: str) -> str:
    """Return *value*, in capitals if *original* is (with at least two letters)."""
    if original and original.isupper() and sum(map(str.isalpha, original)) >= _SHOUTED:
        return value.upper()
    return value
