"""Dates and times: drawing a date in the layout of a placeholder, and shifting a date of the text.

Usual formats are in ``data/words/calendars.yaml``. Their fields: {d} {dd} day, {nth} ordinal, {m} {mm} month, {mon} {month} its name,
{yy} {yyyy} year, {wd} {weekday} day of the week.

All dates of a person or document move by one shift in days, so that the intervals between them are kept. A date with a day moves by
exactly the shift. A vaguer one moves by the nearest whole number of its own unit (months, seasons, quarters, years, decades). The name of
a weekday moves by the shift modulo 7. Birth dates agree with their owner.

An original moves by ``draw.shift``, or keeps its form if it cannot be read. Without an original, the date is drawn from the 900 days
before ``draw.anchor``. ``draw.form`` may request a format or precision: day_month, day_and_month, day_slash_month, month_year, numeric,
iso, year, month, weekday, datetime or expiry (of a card). It may also request the part of a date whose rest is in further placeholders
(``PART``).

Of masks of dates, times and numbers, "XXX-XX-1234", "XX/XX/1984" and "March XX", what they show stays; the places of the X's are filled. A
mask is the form of a draw ("mask:XX/XX/1984"), or the known original itself ("**/**/1984").
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache, partial
from itertools import product
from typing import Final, NamedTuple

from piiloom.foundation.seeding import below, mix, pick, salt_of
from piiloom.pii_values.numbering.masks import digits_by_seed
from piiloom.pii_values.rewriting.calendars import (
    DATE_FIELD,
    calendar_of,
    calendars,
    date_order,
    languages_for,
    meanings,
    of_month,
    ordinal_suffix,
    other_word,
    tells_half,
    told_by_text,
    written_day,
)
from piiloom.pii_values.rewriting.date_layouts import read_date, write_date
from piiloom.pii_values.rewriting.date_shifts import kept_form, other_day, other_duration, shifted_text, time_like
from piiloom.pii_values.rewriting.values import at_places
from piiloom.surrogates.kinds.kind import Draw, Drawing, adult_birth_date, cased_like, style_seed

_TIME: Final = salt_of("time")
_TIME_OF_DAY: Final = re.compile(r"([0-9]{1,2})([:.hH]?)([0-9]{2})?(.*)", re.DOTALL)
_CLOCK_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_HOUR: Final = re.compile(r"(?<![\d:.])(\d{1,2})([:.]\d\d)?(?![\d:.])")
_HALF: Final = 12  # hours; a later one needs no word for its half of the day
_FORMS: Final = {"clock": "{h}:{MM}", "hour": "{h}", "clock24": "{H}:{MM}"}
# Pairs of hour and minute, repeated by frequency: mostly daytime in steps of five minutes, sometimes any time.
_HOURS: Final = (*tuple(product(range(7, 20), range(0, 60, 5))) * 9, *product(range(24), range(60)))


@cache
def clock_words() -> frozenset[str]:
    """Return the words of all languages that stand beside an hour and a minute ("Uhr", "uur", "kl"), casefolded."""
    return frozenset(
        word.casefold() for known in calendars().values() for form in known.times for word in _CLOCK_WORD.findall(DATE_FIELD.sub(" ", form))
    )


def clock_time(seed: int, form: str = "{HH}:{MM}") -> str:
    """Return a time such as "14:35"; fields of *form*: H and HH are the hour of 24, h that of 12, MM the minute, ap and AP am or pm."""
    hour, minute = pick(seed, _HOURS)
    half = "am" if hour < _HALF else "pm"
    return form.format(H=hour, HH=f"{hour:02d}", h=hour % _HALF or _HALF, MM=f"{minute:02d}", ap=half, AP=half.upper())


def time_value(draw: Draw) -> str:
    """Draw a time of day, in the format of the original if it can be read, else in one format per document.

    The forms leave out what the text has after it: clock is "3:45" before "pm", hour is "3" before "o'clock", clock24 is "15:45".
    """
    seed = mix(draw.seed, _TIME)
    original = draw.original
    known = _TIME_OF_DAY.fullmatch(original.strip())
    if known is not None and (int(known[1]) > _HALF or not tells_half(original)):
        return time_like(known[1], known[2], known[3], known[4], *pick(seed, _HOURS))
    said = _said(draw, seed) if original else None
    if said is not None:
        return said
    form = "" if original else _FORMS.get(draw.form, "")
    return clock_time(seed, form or pick(style_seed(draw, _TIME), calendar_of(draw.language).times))


def _said(draw: Draw, seed: int) -> str | None:
    """Return another hour in the words of the original: "half past 3 in the afternoon", "five in the evening"; None if it has no hour."""
    number = _HOUR.search(draw.original)
    if number is not None:
        minutes = f":{5 * below(mix(seed, 1), 12):02d}" if number[2] else ""
        return f"{draw.original[: number.start()]}{_other_hour(int(number[1]), seed)}{minutes}{draw.original[number.end() :]}"
    return other_word(draw.original, draw.language, lambda hour: _other_hour(hour, seed))


def _other_hour(hour: int, seed: int) -> int:
    """Return another hour of the same half of the day, so that "in the afternoon" stays right: at most two off, from 1 to 12."""
    nearby = [other for other in range(hour - 2, hour + 3) if 1 <= other <= 12 and other != hour]
    return pick(seed, nearby) if nearby else hour


def duration(draw: Draw) -> str:
    """Draw a duration. If there is an original, its unit is kept and its number stays near."""
    seed = mix(draw.seed, _TIME + 1)
    original = draw.original
    spelled = other_duration(original, draw.language, seed) if original else None
    if spelled is not None:
        return spelled
    form = pick(seed, calendar_of(draw.language).durations)
    return cased_like(original, form.replace("{n}", str(2 + below(mix(seed, 1), 11))))


_STYLE: Final = salt_of("date_style")


@cache
def _compiled(precision: str, language: str, country: str) -> tuple[Callable[[date], str], ...]:
    words = calendar_of(language)
    order = date_order(language, country)
    named, slashed = precision == "day_and_month", precision == "day_slash_month"
    precision = "day_month" if named or slashed else precision
    listed = words.patterns.get(f"{precision}_{order}") or words.patterns.get(precision) or words.patterns[f"{precision}_dmy"]
    if slashed:
        listed = ["{mm}/{dd}" if order == "mdy" else "{dd}/{mm}"]
    elif named:
        listed = [pattern for pattern in listed if "{month}" in pattern] or listed
    return tuple(partial(written_day, form, language) for form in listed)


def usual(day: date, precision: str, draw: Draw) -> str:
    """Write *day* in one of the usual formats, the same one throughout a document.

    *precision*: date, birth, day_month, month_year, numeric, iso, day_and_month (the month by its name) or
    day_slash_month (what stands before "/1979").
    """
    known = _compiled(precision, draw.language, draw.country)
    return known[style_seed(draw, _STYLE) % len(known)](day)


_NEAR: Final = 900  # days before the anchor
_DAYS: Final = tuple(timedelta(days=days) for days in range(_NEAR))
_DAY: Final = salt_of("day")
_BORN: Final = salt_of("born")
_DAY_OF_MONTH: Final = re.compile(r"\b(?:[12]?[0-9]|3[01])\b")
_CLOCK: Final = re.compile(r"\D*?(?<![\d.:/-])[0-2]?[0-9][:.hH][0-5][0-9](?![\d./-])\D*")  # no number but an hour and a minute
_WORD: Final = re.compile(r"[^\W\d_]+")
PART: Final = "part:"  # begins the form of one part of a date: part:day, part:month, part:year, part:weekday; "part:0month" is in digits
_PARTS: Final = {
    "day": "{d}", "0day": "{dd}", "month": "{month}", "0month": "{mm}", "weekday": "{weekday}", "year": "{yyyy}",
}  # fmt: skip
_VALID: Final = 4  # years from the anchor to the last expiry of a card
_WRITTEN: Final = re.compile(r"(?=.*(?:[0-9]|[^\W\d_A-Z]))[^][<>{}]*", re.DOTALL)  # with a digit or a small letter, and no brackets
_PATTERNS: Final = frozenset({"day_month", "day_and_month", "day_slash_month", "month_year", "numeric", "iso"})


def near_day(draw: Draw) -> date:
    """Return the day that the order of the text's dates requires, else draw one from the anchor to 899 days before it."""
    return near_days(draw.seed, draw.anchor) if draw.day is None else draw.day


def near_days(seed: int, anchor: date) -> date:
    """Draw a day from *anchor* to 899 days before it."""
    return anchor - _DAYS[mix(seed, _DAY) % _NEAR]


def born_on(draw: Draw) -> date:
    """Return the owner's birth date; without an owner, draw that of an adult."""
    if draw.owner is not None:
        return draw.owner.born
    return adult_birth_date(draw.anchor, mix(draw.seed, _BORN))


def _moved(draw: Draw) -> str | None:
    """Return the original date moved by the shift, or in its form if it cannot be read; None if there is none, or a placeholder is it."""
    if not draw.original:
        return None
    clock = _CLOCK.fullmatch(draw.original)
    told = clock is not None and not clock_words().isdisjoint(_WORD.findall(draw.original.casefold()))
    found = None if told else _read_and_moved(draw)
    if found is None and clock is not None:
        return time_value(draw)
    return kept_form(draw.original, draw.shift) if found is None and _WRITTEN.fullmatch(draw.original) else found


def _read_and_moved(draw: Draw) -> str | None:
    if told_by_text(draw.original):  # it tells no date, and any other would break the order
        return draw.original
    month_told = of_month(draw.original)
    if month_told is not None:  # "the 5th of this month": the day moves, and the month stays "this"
        head = draw.original[: month_told.start()]
        day = _read_and_moved(draw._replace(original=head)) or _DAY_OF_MONTH.sub(
            lambda found: str(other_day(int(found[0]), draw.shift)), head, count=1
        )
        return day + month_told.group() if day != head else None
    return shifted_text(draw.original, draw.shift, draw.language, date_order(draw.language, draw.country), draw.anchor)


def date_value(draw: Draw) -> str:
    """Return the original date moved by the shift, else a day near the anchor in the format that ``draw.form`` requests.

    What tells no date stays as it is, as any other would break the order: a day told by that of the text ("tomorrow", "two days ago").
    """
    if draw.original:
        found = _moved(draw)
        if found is not None:
            return found
    if draw.form.startswith(PART):
        return _part(near_day(draw), draw)
    if draw.form in _OTHERS:
        return _OTHERS[draw.form](draw._replace(original="", form=""))
    return usual(near_day(draw), draw.form if draw.form in _PATTERNS else "date", draw)


def _part(day: date, draw: Draw) -> str:
    """Return the part of *day* that the form of *draw* requests; "start" is a day before that of the date: "12-14 March"."""
    part = draw.form.removeprefix(PART)
    if part == "start":
        return str(max(1, day.day - 1 - below(mix(draw.seed, _DAY + 3), 6)))
    return written_day(_PARTS[part], draw.language, day)


def _expiry(draw: Draw) -> str:
    """Return the month and year in which a card expires, after the anchor."""
    months = 1 + below(mix(draw.seed, _DAY), 12 * _VALID)
    years, month = divmod(draw.anchor.month - 1 + months, 12)
    return f"{month + 1:02d}/{(draw.anchor.year + years) % 100:02d}"


def birth_date(draw: Draw) -> str:
    """Return the owner's birth date, in the format of the original or in a usual one.

    Where the text told the owner's birth date, it moves as all dates do, so that two birth dates in it stay two.
    """
    born = born_on(draw)
    if draw.original and draw.owner is not None and not draw.owner.told_birth:
        layout = read_date(draw.original, draw.language, date_order(draw.language, draw.country), draw.anchor)
        if layout is not None and layout.precision != "weekday":
            return write_date(layout, born)
    if (found := _moved(draw)) is not None:
        return found
    if draw.form.startswith(PART):
        return _part(born, draw)
    if draw.form == "year":
        return str(born.year)
    return usual(born, draw.form if draw.form in _PATTERNS else "birth", draw)


def year(draw: Draw) -> str:
    """Return the original year moved by the shift (two digits stay two), else a recent year."""
    return _moved(draw) or str(near_day(draw).year - below(mix(draw.seed, _DAY + 1), 9))


def birth_year(draw: Draw) -> str:
    """Return the owner's year of birth, with two digits if the original has two; one that the text told agrees with the birth date."""
    if draw.original and draw.owner is None:
        return _moved(draw) or str(born_on(draw).year)
    born = born_on(draw)
    return f"{born.year % 100:02d}" if len(draw.original.strip()) == 2 else str(born.year)


def month(draw: Draw) -> str:
    """Return the name of a month, with a year if the form or the original has one."""
    found = _moved(draw)
    if found is not None:
        return found
    if draw.form == "month_year":
        return usual(near_day(draw), "month_year", draw)
    return cased_like(draw.original, written_day("{month}", draw.language, near_day(draw)))


def weekday(draw: Draw) -> str:
    """Return the name of a weekday."""
    return _moved(draw) or cased_like(draw.original, written_day("{weekday}", draw.language, near_day(draw)))


def holiday(draw: Draw) -> str:
    """Draw the name of a holiday other than the original."""
    known = calendar_of(draw.language).holidays
    chosen = below(mix(draw.seed, _DAY), len(known))
    same = known[chosen].casefold() == draw.original.strip().casefold()
    return cased_like(draw.original, known[(chosen + same) % len(known)])


def datetime_value(draw: Draw) -> str:
    """Return a date with a time; of an original one, the date moves by the shift and the time is kept."""
    found = _moved(draw)
    if found is not None:
        return found
    day = near_day(draw)
    if style_seed(draw, _DAY) & 3 == 0:
        return f"{day.isoformat()}T{clock_time(mix(draw.seed, _DAY + 2))}:00Z"
    return f"{usual(day, 'numeric', draw)} {clock_time(mix(draw.seed, _TIME))}"


_OTHERS: Final = {"year": year, "month": month, "weekday": weekday, "datetime": datetime_value, "expiry": _expiry}


MASK: Final = "mask:"
_SALT: Final = salt_of("mask")
_HIDDEN: Final = re.compile(r"[Xx]")
_SHOWN: Final = re.compile(r"(?<![^\W\dXx_])[Xx0-9]+(?:(st|nd|rd|th)\b)?")
_WORDS: Final = re.compile(r"[^\W\d_]{3,}")
_SIGNS: Final = re.compile(r"(?<![^\W\dXx_])[Xx](?=[Xx\d]|[-/.: ]|$)|[*_?#•█▇■×]")
# An original that is a mask: it has digits or the name of a month, and a sign for each character that is hidden.
_MASKED_DATE: Final = re.compile(
    r"(?=.*[\d\w])(?:[\dXx*_?#•█▇■×]{1,4}|[^\W\d_]{2,})(?:[-/.:, ]{1,2}(?:[\dXx*_?#•█▇■×]{1,4}|[^\W\d_]{2,})){1,4}|\d{1,3}[Xx*]{1,3}"
)
_SPELT: Final = re.compile(r"Month|[DT] ?[DT]|M ?M|[YJ](?: ?[YJ]){1,3}")
_FIELDS: Final = {"Month": "{month}", "MM": "{mm}", **dict.fromkeys(("YYYY", "JJJJ"), "{yyyy}"), **dict.fromkeys(("YY", "JJ"), "{yy}")}
_MASKED_CLOCK: Final = re.compile(r"([\dXx]{1,2}):([\dXx]{2})")
_DIGIT: Final = re.compile("[0-9]")
_SHORT_MONTH: Final = "XXX"
_TWO: Final = 2  # digits of a day, a month or a short year
_EARLIER, _LATER = 89, 11  # years before and after the anchor in which a year that a mask hides is looked for
_YEARS: Final = 9  # years that are tried: among these is a leap year
_EVERY_MONTH: Final = 28  # every month has as many
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
    found = [part for part in _SHOWN.finditer(text) if part.group().strip("Xx") or len(part.group()) <= _LONGEST]
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


def date_masked(plain: Drawing, day_of: Callable[[Draw], date] = near_day) -> Drawing:
    """Return the drawing function of *plain* that also fills masks, with a day near that of *day_of*."""

    def drawn(draw: Draw) -> str:
        mask = mask_of(draw.form, draw.original) if draw.form or draw.original else ""
        if not mask:
            return plain(draw)
        if _MASKED_CLOCK.fullmatch(mask):
            return masked_time(draw)
        day = day_of(draw)
        if not _HIDDEN.search(mask):
            return _spelt(mask, day, draw.language)
        read = read_mask(mask, draw.language, draw.country)
        if draw.day is None and plain is date_value and read is not None and read.year not in {0, day.year}:
            seed = mix(draw.seed, _SALT)
            day = date(read.year, 1 + below(seed, 12), 1 + below(mix(seed, 1), _EVERY_MONTH))
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
    return date_masked(plain, born_on)


def masked_time(draw: Draw) -> str:
    """Draw a time of day; of a mask with digits ("14:XX") these stay."""
    mask = mask_of(draw.form, draw.original)
    shown = _MASKED_CLOCK.match(mask) if _DIGIT.search(mask) else None
    if shown is None:
        return time_value(draw._replace(form="" if draw.form.startswith(MASK) else draw.form))
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
