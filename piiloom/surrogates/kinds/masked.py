"""Values in the form of a mask: "XX/XX/2019" keeps its year, "XXX-XX-1234" its digits; the places of the X's are filled.

Without a mask (``draw.form`` does not begin with ``MASK``) the kinds are drawn as elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds import accounts, dates, identifiers, phones
from piiloom.surrogates.kinds.calendars import calendar_of, date_order
from piiloom.surrogates.kinds.kind import Drawing, salt_of
from piiloom.surrogates.kinds.masks import digits
from piiloom.surrogates.seeds import below, mix

MASK: Final = "mask:"
LAST_FOUR: Final = "last4"
_SALT: Final = salt_of("mask")
_PARTS: Final = re.compile(r"[Xx]+|[0-9]+")
_LETTERS: Final = re.compile(r"Month|[DT] ?[DT]|M ?M|[YJ](?: ?[YJ]){1,3}")
_FREE: Final = re.compile(r"[Xx]")
_DAYS: Final = 28  # every month has as many


def _masked(plain: Drawing) -> Drawing:
    """Return the drawing function of *plain* that also fills masks, with its digits if they are as many as the mask has places.

    Where the text has only the last four digits ("a card ending in XXXX"), they are those of the whole number.
    """

    def drawn(draw: Draw) -> str:
        if draw.form == LAST_FOUR:
            return "".join(filter(str.isdigit, plain(draw._replace(form="", original=""))))[-4:]
        if not draw.form.startswith(MASK):
            return plain(draw)
        mask = draw.form.removeprefix(MASK)
        places = sum(c in "Xx" or c.isdigit() for c in mask)
        known = "".join(filter(str.isdigit, plain(draw._replace(form="", original=""))))
        known = known if len(known) == places else digits(mix(draw.seed, _SALT), places)
        numbers = iter(known)
        return "".join(_filled(mask, numbers))

    drawn.__doc__ = plain.__doc__
    return drawn


def _filled(mask: str, numbers: Iterator[str]) -> Iterator[str]:
    """Yield the characters of *mask* with its X's replaced; each place, also one with a digit of its own, uses up one of *numbers*."""
    for c in mask:
        if c.isdigit():
            next(numbers)
            yield c
        else:
            yield next(numbers) if _FREE.match(c) else c


def date_value(draw: Draw) -> str:
    """Draw a date; into a mask in the text's order of day and month, near the others of the document if the mask leaves the year out."""
    if not draw.form.startswith(MASK):
        return dates.date_value(draw)
    mask = draw.form.removeprefix(MASK)
    day = dates.near_day(draw)
    if not _FREE.search(mask):
        return _spelt(mask, day, draw.language)
    parts = _PARTS.findall(mask)
    year = next((int(part) for part in parts if part.isdigit() and len(part) == 4), day.year)
    if year != day.year:
        seed = mix(draw.seed, _SALT)
        day = date(year, 1 + below(seed, 12), 1 + below(mix(seed, 1), _DAYS))
    year_first = len(parts) > 2 and len(parts[0]) == 4 != len(parts[1])
    names_of = "md" if year_first else [name for name in date_order(draw.language, draw.country) if name != "y"]
    order = ["y", *names_of] if year_first else [*names_of, "y"]
    names = iter(order)

    def written(part: re.Match[str]) -> str:
        name = next(names, "d")
        if part.group().isdigit():
            return part.group()
        if name == "y":
            return f"{day.year % 100:02d}" if len(part.group()) == 2 else str(day.year)
        return f"{day.month if name == 'm' else day.day:02d}"

    return _PARTS.sub(written, mask)


def _spelt(mask: str, day: date, language: str) -> str:
    """Write *day* into a mask that spells its parts: "Month DD, YYYY", "YYYY-MM-DD", "TT.MM.JJJJ"."""

    def written(part: re.Match[str]) -> str:
        letters = part.group().replace(" ", "")
        if letters == "Month":
            return calendar_of(language).months[day.month - 1]
        if letters[0] in "YJ":
            return str(day.year) if len(letters) == 4 else f"{day.year % 100:02d}"
        if mask.startswith("Month"):
            return str(day.day)
        return f"{day.month if letters[0] == 'M' else day.day:02d}"

    return _LETTERS.sub(written, mask)


national_id = _masked(identifiers.national_id)
phone = _masked(phones.phone)
payment_card = _masked(accounts.payment_card)
bank_account = _masked(accounts.bank_account)
