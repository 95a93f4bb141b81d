"""Masks of numbers, dates and times: "XXX-XX-1234", "XX/XX/1984", "March XX". What they show stays; the places of the X's are filled.

A mask is the form of a draw ("mask:XX/XX/1984"), or the known original itself ("**/**/1984"). Without one the kinds are drawn as elsewhere.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final, NamedTuple

from piiloom.foundation.seeding import below, mix, pick, salt_of
from piiloom.pii_values.numbering.masks import digits_by_seed
from piiloom.pii_values.rewriting.calendars import calendar_of, date_order, languages_for, meanings, ordinal_suffix, written_day
from piiloom.pii_values.rewriting.numbers import at_places
from piiloom.surrogates.kinds import dates
from piiloom.surrogates.kinds.kind import Draw, Drawing

MASK: Final = "mask:"
_SALT: Final = salt_of("mask")
_HIDDEN: Final = re.compile(r"[Xx]")
_PARTS: Final = re.compile(r"(?<![^\W\dXx_])[Xx0-9]+(?:(st|nd|rd|th)\b)?")
_WORDS: Final = re.compile(r"[^\W\d_]{3,}")
_SIGNS: Final = re.compile(r"(?<![^\W\dXx_])[Xx](?=[Xx\d]|[-/.: ]|$)|[*_?#•█▇■×]")
# An original that is a mask: it has digits or the name of a month, and a sign for each character that is hidden.
_MASKED_DATE: Final = re.compile(
    r"(?=.*[\d\w])(?:[\dXx*_?#•█▇■×]{1,4}|[^\W\d_]{2,})(?:[-/.:, ]{1,2}(?:[\dXx*_?#•█▇■×]{1,4}|[^\W\d_]{2,})){1,4}|\d{1,3}[Xx*]{1,3}"
)
_SPELT: Final = re.compile(r"Month|[DT] ?[DT]|M ?M|[YJ](?: ?[YJ]){1,3}")
_FIELDS: Final = {"Month": "{month}", "MM": "{mm}", **dict.fromkeys(("YYYY", "JJJJ"), "{yyyy}"), **dict.fromkeys(("YY", "JJ"), "{yy}")}
_CLOCK: Final = re.compile(r"([\dXx]{1,2}):([\dXx]{2})")
_DIGIT: Final = re.compile("[0-9]")
_SHORT_MONTH: Final = "XXX"
_TWO: Final = 2  # digits of a day, a month or a short year
_EARLIER, _LATER = 89, 11  # years before and after the anchor in which a year that a mask hides is looked for
_YEARS: Final = 9  # years that are tried: among these is a leap year
_DAYS: Final = 28  # every month has as many
_STEPS: Final = 2 * 366  # days around a day that are tried
_LONGEST: Final = 4  # X's of a year


class _MaskPart(NamedTuple):
    """A part of a mask: its place, the text that shows or hides a number, its field (y, m or d), and an ordinal suffix behind it."""

    start: int
    end: int
    text: str
    field: str
    suffix: str


class DateMask(NamedTuple):
    """A mask that can be read: its text, its parts in text order, and the number of the month that it names (0: none)."""

    text: str
    parts: tuple[_MaskPart, ...]
    month: int

    def day_near(self, near: date, anchor: date, earliest: date = date.min) -> date | None:
        """Return a day that has what the mask shows, near *near* and in the nearest year, not before *earliest*; None if there is none.

        A part of a year means one of the hundred years that end ten years after *anchor*.
        """
        shown = {"m": str(self.month)} if self.month else {}
        shown.update((part.field, part.text) for part in self.parts)
        wanted = shown.pop("y", "")
        several = (int(wanted),) if wanted.isdecimal() and len(wanted) > _TWO else range(anchor.year - _EARLIER, anchor.year + _LATER)
        years = [year for year in several if _matches(wanted, year % 10 ** (len(wanted) or 1))]
        for year in sorted(years, key=lambda year: abs(year - near.year))[:_YEARS]:
            month, number = _number(shown.get("m"), near.month, 12), _number(shown.get("d"), near.day, 31)
            start = date(year, month, min(number, monthrange(year, month)[1]))
            for step in range(_STEPS):
                day = start + timedelta(days=step // 2 if step % 2 else -(step // 2))
                fields = {"m": day.month, "d": day.day}
                if day.year == year and day >= earliest and all(_matches(text, fields[field]) for field, text in shown.items()):
                    return day
        return None

    @property
    def year(self) -> int:
        """The year that the mask shows, or 0."""
        return next((int(part.text) for part in self.parts if part.field == "y" and part.text.isdecimal() and len(part.text) > _TWO), 0)

    def written(self, day: date, language: str) -> str:
        """Return the mask with *day* in it; what it shows stays."""
        out, at = [], 0
        for part in self.parts:
            out.append(self.text[at : part.start] + (self._field(part, day, language) if _HIDDEN.search(part.text) else part.text))
            if part.suffix:
                out.append(ordinal_suffix(part.suffix, day.day, part.suffix))
            at = part.end
        return "".join(out) + self.text[at:]

    def _field(self, part: _MaskPart, day: date, language: str) -> str:
        if part.field == "y":
            return f"{day.year % 10 ** len(part.text):0{len(part.text)}d}"
        if part.text == _SHORT_MONTH and part.field == "m":
            return calendar_of(language).short_months[day.month - 1][0]
        number = day.month if part.field == "m" else day.day
        return str(number) if self.month or len(part.text) == 1 else f"{number:02d}"


def read_mask(text: str, language: str, country: str) -> DateMask | None:
    """Return *text* as a mask in the first usual order of day, month and year that its digits allow; None if no date has these."""
    found = [part for part in _PARTS.finditer(text) if part.group().strip("Xx") or len(part.group()) <= _LONGEST]
    texts = [part.group().removesuffix(part[1] or "") for part in found]
    months = [number for word in _WORDS.findall(text) if (number := _month(word.casefold(), language))]
    own = date_order(language, country).replace("y", "")
    named = ("d", "y", "dy", "yd")
    for fields in named if months else ("y", own, own[::-1], "my", "ym", f"{own}y", f"{own[::-1]}y", "ymd", "ydm"):
        if len(fields) == len(texts) and all(_possible(word, field, months) for word, field in zip(texts, fields, strict=True)):
            parts = (_MaskPart(*part.span(), word, field, part[1] or "") for part, word, field in zip(found, texts, fields, strict=True))
            return DateMask(text, tuple(parts), months[0] if months else 0)
    return None


def mask_of(form: str, original: str) -> str:
    """Return the mask of a draw with this *form* and *original*, in which X's hide characters, or ""."""
    if form.startswith(MASK):
        return form.removeprefix(MASK)
    return _SIGNS.sub("X", original) if original and _MASKED_DATE.fullmatch(original) and _SIGNS.search(original) else ""


def date_masked(plain: Drawing, day_of: Callable[[Draw], date] = dates.near_day) -> Drawing:
    """Return the drawing function of *plain* that also fills masks, with a day near that of *day_of*."""

    def drawn(draw: Draw) -> str:
        mask = mask_of(draw.form, draw.original) if draw.form or draw.original else ""
        if not mask:
            return plain(draw)
        if _CLOCK.fullmatch(mask):
            return masked_time(draw)
        day = day_of(draw)
        if not _HIDDEN.search(mask):
            return _spelt(mask, day, draw.language)
        read = read_mask(mask, draw.language, draw.country)
        if draw.day is None and plain is dates.date_value and read is not None and read.year not in {0, day.year}:
            seed = mix(draw.seed, _SALT)
            day = date(read.year, 1 + below(seed, 12), 1 + below(mix(seed, 1), _DAYS))
        fits = read.day_near(day, draw.anchor) if read is not None else None
        if read is None or fits is None:  # no date has these digits: the form stays
            return at_places("[Xx]", mask, digits_by_seed(mix(draw.seed, _SALT), len(mask)))
        return read.written(fits, draw.language)

    return drawn


def _number(text: str | None, other: int, largest: int) -> int:
    """Return the number that *text* shows, *other* if it hides a part of it, at most *largest*."""
    return min(int(text), largest) or 1 if text and text.isdecimal() else other


def _matches(text: str, number: int) -> bool:
    """Whether *number* can be what *text* shows, of which X's are hidden."""
    written = f"{number:0{len(text)}d}"
    return not text.strip("Xx") or (len(written) == len(text) and all(c in {"X", "x", d} for c, d in zip(text, written, strict=True)))


def _possible(text: str, field: str, months: list[int]) -> bool:
    """Whether *text* can be the *field* of a date that names *months*; three X's are a month in letters, or beside one a day."""
    if field == "y":
        return len(text) in {_TWO, 2 * _TWO}
    largest = 12 if field == "m" else 31
    return (text == _SHORT_MONTH and (field == "d") == bool(months)) or (
        len(text) <= _TWO and any(_matches(text, one) for one in range(1, largest + 1))
    )


def _month(word: str, language: str) -> int:
    """Return the number of the month *word*, or 0."""
    known = languages_for(word, language)
    meaning = meanings(known[0])[word] if known else None
    return meaning.number if meaning is not None and meaning.field == "month" else 0


def _spelt(mask: str, day: date, language: str) -> str:
    """Write *day* into a mask that spells its parts: "Month DD, YYYY", "YYYY-MM-DD", "TT.MM.JJJJ"."""
    number = str(day.day) if mask.startswith("Month") else "{dd}"
    return written_day(_SPELT.sub(lambda part: _FIELDS.get(part.group().replace(" ", ""), number), mask), language, day)


def birth_masked(plain: Drawing) -> Drawing:
    """As ``date_masked``, with the owner's birth date."""
    return date_masked(plain, dates.born_on)


def masked_time(draw: Draw) -> str:
    """Draw a time of day; of a mask with digits ("14:XX") these stay."""
    mask = mask_of(draw.form, draw.original)
    shown = _CLOCK.match(mask) if _DIGIT.search(mask) else None
    if shown is None:
        return dates.time_value(draw._replace(form="" if draw.form.startswith(MASK) else draw.form))
    hours, minutes = (
        [one for one in range(largest) if _matches(text, one)] for text, largest in zip(shown.groups(), (24, 60), strict=True)
    )
    if not hours or not minutes:
        return mask
    seed = mix(draw.seed, _SALT)
    hour, minute = pick(seed, hours), pick(mix(seed, 1), minutes)
    second = f"{below(mix(seed, 2), 60):02d}"
    return f"{hour:0{len(shown[1])}d}:{minute:02d}" + re.sub("XX", second, mask[shown.end() :])


LAST_FOUR: Final = "last4"
_MASKED: Final = re.compile(r"(?=.*(?:XX|xx|\*\*|##|••))(?=.*\d)[\dXx*#•./ ()+-]+")  # an original that is a mask
_SIGN: Final = re.compile("[*#•]")
_PLACE: Final = re.compile(r"[Xx\d]")


def number_masked(plain: Drawing) -> Drawing:
    """Return the drawing function of *plain* that also fills masks, with its digits if they are as many as the mask has places.

    Where the text has only the last four digits ("a card ending in XXXX"), they are those of the whole number.
    """

    def drawn(draw: Draw) -> str:
        form, original = draw.form, draw.original
        if form != LAST_FOUR and not form.startswith(MASK) and not _MASKED.fullmatch(original):
            return plain(draw)
        known = "".join(filter(str.isdigit, plain(draw._replace(form="", original=""))))
        if form == LAST_FOUR:
            return known[-4:]
        mask = form.removeprefix(MASK) if form.startswith(MASK) else _SIGN.sub("X", original)
        places = len(_PLACE.findall(mask))
        written = at_places(_PLACE, mask, known if len(known) == places else digits_by_seed(mix(draw.seed, _SALT), places))
        return "".join(new if _HIDDEN.match(old) else old for old, new in zip(mask, written, strict=True))  # its own digits stay

    return drawn
