"""Masks of codes: what their free places stand for, and filling them from a random generator.

In a mask, "#" is a digit, "%" a digit from 1 to 9, "@" a capital letter (no I, O or Q), "&" a small one, "?" a capital letter or a digit.
All other characters are literal. In the entity catalogue, ``{a|b}`` is one of several texts, ``{yymmdd}`` and its like are a birth date,
``{born yy}`` is the year of it, ``{yyyy}`` and ``{yy}`` a recent year, and a backslash takes a character literally.
"""

from __future__ import annotations

import random
import re
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Final

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.seeding import below, mix
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.numbering.holders import digits

LETTERS: Final = "ABCDEFGHJKLMNPRSTUVWXYZ"  # I, O and Q are left out: most issuers do
ALPHABETS: Final = {
    "#": "0123456789",
    "%": "123456789",
    "@": LETTERS,
    "&": LETTERS.lower(),
    "?": "0123456789" + LETTERS,
}
_PLACES: Final = re.compile("#+|[%@]")


@lru_cache(maxsize=2048)
def _compiled(mask: str) -> tuple[str, tuple[int, ...]]:
    """Return a %-template, and for each free place the length of a run of digits, 0 for "%" or -1 for "@"."""
    places = [-1 if found[0] == "@" else 0 if found[0] == "%" else len(found) for found in _PLACES.findall(mask)]
    return _PLACES.sub("%s", mask), tuple(places)


def _place(size: int, rng: random.Random) -> str:
    if size > 0:
        return digits(size, rng)
    return LETTERS[int(rng.random() * len(LETTERS))] if size else str(rng.randint(1, 9))


def fill_places(mask: str, rng: random.Random) -> str:
    """Return *mask* with each free place filled by one of its ``ALPHABETS``."""
    return "".join(rng.choice(ALPHABETS[sign]) if sign in ALPHABETS else sign for sign in mask)


def drawn(mask: str, rng: random.Random) -> str:
    """Return *mask* with its free places filled; of the signs "#", "%" and "@" only. A run of digits is one draw."""
    template, places = _compiled(mask)
    return template % tuple([_place(size, rng) for size in places])


def one_drawn(masks: tuple[str, ...], rng: random.Random) -> str:
    """Fill all *masks* and return one of them: every call takes the same number of draws, whichever mask is chosen."""
    fill_places = [drawn(mask, rng) for mask in masks]
    return fill_places[int(rng.random() * len(fill_places))]


_TOKEN: Final = re.compile(r"\\(.)|\{([^{}]*)\}|([#%@&?])|([^\\{}#%@&?]+)|(.)", re.DOTALL)
_DATE_PARTS: Final = {"yyyy": "%Y", "yy": "%y", "mm": "%m", "dd": "%d"}
_DATE_PART: Final = re.compile("yyyy|yy|mm|dd")
_DATE: Final = re.compile(r"(?:yyyy|yy|mm|dd|[./ \-])+")
_OLDEST, _YOUNGEST = 92, 18  # years of age that birth dates give
_RECENT: Final = 15  # years back that {yyyy} and {yy} go

MaskToken = tuple[str, str]


@lru_cache(maxsize=8192)
def _tokens(mask: str) -> tuple[MaskToken, ...]:
    found: list[MaskToken] = []
    for escaped, braced, place, text, odd in _TOKEN.findall(mask):
        if odd:
            raise ConfigError(f"{odd!r} in the mask {mask!r} has no partner", remedy="Write \\{ for a brace and \\\\ for a backslash")
        if braced:
            found.append(_braced(mask, braced))
        elif place:
            found.append(("place", place))
        else:
            found.append(("text", escaped or text))
    return tuple(found)


def _braced(mask: str, braced: str) -> MaskToken:
    if "|" in braced:
        return "choice", braced
    if braced in ("yyyy", "yy"):
        return "year", _DATE_PARTS[braced]
    if braced == "born yy":
        return "born", "%y"
    if _DATE.fullmatch(braced):
        return "born", _DATE_PART.sub(lambda part: _DATE_PARTS[part[0]], braced)
    raise ConfigError(f"{{{braced}}} in the mask {mask!r} is unknown", remedy="Write {a|b} for a choice, {yymmdd} for a birth date")


def tells_birth(mask: str) -> bool:
    """Whether *mask* holds a birth date."""
    return any(kind == "born" for kind, _ in _tokens(mask))


def fill_mask(mask: str, rng: random.Random, born: date | None = None) -> str:
    """Return *mask* with its free places filled. All birth dates in it are *born*, or one day.

    Raises ``ConfigError`` for a malformed mask.
    """
    parts: list[str] = []
    for kind, what in _tokens(mask):
        match kind:
            case "place":
                alphabet = ALPHABETS[what]
                parts.append(alphabet[int(rng.random() * len(alphabet))])
            case "choice":
                parts.append(rng.choice(what.split("|")))
            case "year":
                parts.append(REFERENCE_DATE.replace(year=REFERENCE_DATE.year - rng.randrange(_RECENT)).strftime(what))
            case "born":
                if born is None:
                    born = REFERENCE_DATE - timedelta(days=rng.randint(_YOUNGEST * 366, _OLDEST * 365))
                parts.append(born.strftime(what))
            case _:
                parts.append(what)
    return "".join(parts)


_SEED_SALT: Final = 0xA5
_AT_ONCE: Final = 9  # the most digits that one draw gives without a noticeable bias
_ROOM: Final = 1 << 20  # when less than this is left of the seed, mix a new one, so that the choices stay even


def choices_by_seed(seed: int, alphabets: tuple[str, ...]) -> tuple[str, ...]:
    """Choose one character from each alphabet."""
    rest = mix(seed, _SEED_SALT)
    out = []
    for alphabet in alphabets:
        if rest < _ROOM:
            seed = rest = mix(seed, _SEED_SALT + 1)
        rest, at = divmod(rest, len(alphabet))
        out.append(alphabet[at])
    return tuple(out)


@cache
def _seeded_template(mask: str) -> tuple[str, tuple[str, ...], int]:
    """Compile a mask into a %-template, the alphabets of its free places, and 0.

    Fast path: if the free places are a single run of at most ``_AT_ONCE`` digits, the template takes one number. Then the alphabets are
    empty, and the last item is the count of possible numbers.
    """
    places = [c for c in mask if c in ALPHABETS]
    together = "#" * len(places)
    if 0 < len(places) <= _AT_ONCE and together in mask:
        return mask.replace(together, f"%0{len(places)}d"), (), 10 ** len(places)
    return "".join("%s" if c in ALPHABETS else c for c in mask), tuple(ALPHABETS[c] for c in places), 0


def fill_by_seed(mask: str, seed: int) -> str:
    """Return *mask* with its free places filled."""
    template, alphabets, numbers = _seeded_template(mask)
    return template % (below(mix(seed, _SEED_SALT), numbers) if numbers else choices_by_seed(seed, alphabets))


def digits_by_seed(seed: int, count: int) -> str:
    """Draw *count* digits."""
    return "".join(choices_by_seed(seed, (ALPHABETS["#"],) * count))
