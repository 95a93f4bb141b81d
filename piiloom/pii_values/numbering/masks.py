"""Masks of codes: what their free places stand for, and filling them from a random generator.

In a mask, "#" is a digit, "%" a digit from 1 to 9, "@" a capital letter (no I, O or Q), "&" a small one, "?" a capital letter or a digit.
All other characters are literal. In the entity catalogue, ``{a|b}`` is one of several texts, ``{yymmdd}`` and its like are a birth date,
``{born yy}`` is the year of it, ``{yyyy}`` and ``{yy}`` a recent year, and a backslash takes a character literally.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Final

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.seeding import below, mix
from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.lexicons import Weighted, weighted
from piiloom.pii_values.numbering.holders import in_shape

LETTERS: Final = "ABCDEFGHJKLMNPRSTUVWXYZ"  # I, O and Q are left out: most issuers do
ALPHABETS: Final = {
    "#": "0123456789",
    "%": "123456789",
    "@": LETTERS,
    "&": LETTERS.lower(),
    "?": "0123456789" + LETTERS,
}


def fill_places(mask: str, rng: random.Random) -> str:
    """Return *mask* with each free place filled by one of its ``ALPHABETS``."""
    return "".join(rng.choice(ALPHABETS[sign]) if sign in ALPHABETS else sign for sign in mask)


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


def fill_given(masks: Weighted[str], rng: random.Random, given: Mapping[str, str]) -> str:
    """Fill one of *masks*, in which the name of a *given* text stands for it in braces."""
    mask = masks.draw(rng)
    for name, text in given.items():
        mask = mask.replace(f"{{{name}}}", text)
    return fill_mask(mask, rng)


class _FormsFile(FileModel):
    masks: dict[str, dict[str, float]]
    layouts: dict[str, dict[str, float]]


@cache
def _forms() -> _FormsFile:
    return load_data("piiloom.pii_values", "number_forms.yaml", _FormsFile)


@cache
def usual_masks() -> Mapping[str, Weighted[str]]:
    """Return the masks of ``data/number_forms.yaml`` by kind of number ("employee_id")."""
    return {kind: weighted(masks.items()) for kind, masks in _forms().masks.items()}


def laid_out(kind: str, number: str, rng: random.Random) -> str:
    """Write *number* with the signs of one of the layouts of its *kind* and length, each # of which is a letter or digit of it."""
    plain = "".join(filter(str.isalnum, number))
    fitting = [(one, weight) for one, weight in _forms().layouts.get(kind, {}).items() if one.count("#") == len(plain)]
    return in_shape(plain, weighted(fitting).draw(rng)) if fitting else number


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
