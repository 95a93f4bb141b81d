"""Ages, amounts of money, percentages and grades, near the original and in its format.

Ages are the owner's, else near the original ("77-year-old", "seventy-seven", "(54)"). Those over 89 stay over 89: few people have them, so
health data gives them as "over 89" (HIPAA, 45 CFR 164.514). A range of ages, as De-ID gives them ("in 60s", "in teens", "birth-12",
"90+"), becomes one age in it. Of money, currency sign, digit grouping, decimals and magnitude are kept.
"""

from __future__ import annotations

import re
from typing import Final

from piiloom.foundation.seeding import below, mix, pick, salt_of
from piiloom.pii_values.countries import facts_of
from piiloom.pii_values.numbering.holders import in_groups
from piiloom.pii_values.rewriting.calendars import LARGEST, calendars, in_words, other_word
from piiloom.pii_values.rewriting.values import AMOUNT, FIGURES, other_score, resized, with_other_number
from piiloom.surrogates.fitting import ANY, sounds
from piiloom.surrogates.kinds.kind import Draw, style_seed
from piiloom.surrogates.kinds.places import draw_phrase

_AGE: Final = salt_of("age")
_AGE_NUMBER: Final = re.compile(r"[0-9]{1,3}")
_RANGE: Final = re.compile(r"(?:in )?(?:(?P<decade>[1-9]0)'?s|(?P<teens>teens)|birth ?- ?(?P<child>1[0-9])|(?P<old>90) ?\+)", re.IGNORECASE)
_REACH: Final = 3
_OLD: Final = 89
_ADULT: Final = (19, 60)
UNITS: Final = {"months": (30.436875, 23), "weeks": (7.0, 16), "days": (1.0, 20)}  # days of each, and the most of them that an age has
_KIN_AGES: Final = {"kin_old": (48, 38), "kin_young": (3, 13)}  # lowest age and how many
KIN: Final = frozenset({"kin", *_KIN_AGES})  # forms of an age that is a relative's: "my [AGE] father"
BEFORE_NOUNS: Final = KIN | {"attributive"}
_AFTER_AN: Final = (18,) * 10 + tuple(range(80, _OLD + 1))  # plausible ages that take the article "an"; 18 is half of them


def near_age(age: int, seed: int, sound: int = ANY) -> int:
    """Return another age, at most three years off and in the same decade, that begins with *sound*. Over 89 stays over 89.

    If none begins with it ("an 18-year-old"), *age* is kept if it does: the article gives it away anyway.
    """
    if age > _OLD:
        low, high = max(_OLD + 1, age - _REACH), min(age + _REACH, 120)
    else:
        low, high = max(age // 10 * 10, age - _REACH), min(age // 10 * 10 + 9, age + _REACH, _OLD)
    others = [other for other in range(low, high + 1) if other != age]
    fitting = [other for other in others if sounds(str(other), sound)]
    if not fitting and sounds(str(age), sound):
        return age
    others = fitting or others
    return others[below(seed, len(others))] if others else age


def suited_age(age: int, seed: int, sound: int) -> int:
    """Return *age* if it begins with *sound*, else another age that does."""
    return age if sounds(str(age), sound) else _AFTER_AN[below(seed, len(_AFTER_AN))] if sounds("18", sound) else near_age(age, seed, sound)


def middle_of_range(original: str) -> int | None:
    """Return the middle of the ages that *original* tells as a range ("in 60s"); None if it tells none."""
    told = _RANGE.fullmatch(original.strip())
    if told is None:
        return None
    if told["decade"]:
        return int(told["decade"]) + 5
    return 16 if told["teens"] else _OLD + 4 if told["old"] else int(told["child"]) // 2


def age_in(original: str, language: str) -> int | None:
    """Return the age in *original*, in digits or in words, or the middle of its range; None if there is none."""
    middle = middle_of_range(original)
    if middle is not None:
        return middle
    found = _AGE_NUMBER.search(original)
    if found is not None:
        return int(found.group())
    told: list[int] = []
    other_word(original, language, lambda number: told.append(number) or number)  # type: ignore[func-returns-value]
    return told[0] if told else None


def age(draw: Draw, sound: int = ANY) -> str:
    """Draw an age in the format of the original, or in that of the form.

    Without either it is in digits. Forms: words; months, weeks, days; what stands before a noun ("my 72-year-old father").
    An owner whose age the text tells (``told_age``) keeps the distances between several of theirs ("smoked at 20, now 54").
    *sound* is the initial sound that the article before it requires. It is ignored if there is an owner, whose age is fixed.
    """
    seed = mix(draw.seed, _AGE)
    owner = draw.owner

    def new(old: int) -> int:
        if owner is None:
            return near_age(old, seed, sound)
        return owner.age if owner.told_age is None else min(LARGEST, max(0, owner.age + old - owner.told_age))

    middle = middle_of_range(draw.original)
    if middle is not None:
        return str(new(middle))
    other = with_other_number(draw.original, draw.language, _AGE_NUMBER, lambda number: str(new(int(number))), new)
    if other is not None:
        return other
    low, count = _KIN_AGES.get(draw.form, _ADULT)
    years = owner.age if owner is not None else suited_age(low + below(seed, count), seed, sound)
    if draw.form in UNITS:
        days, most = UNITS[draw.form]
        told = round((owner.anchor - owner.born).days / days) if owner is not None else 0
        return str(told if 0 < told <= most else 1 + below(seed, most))
    if draw.form in BEFORE_NOUNS:
        known = calendars().get(draw.language)
        return (known.age_before_noun if known else "{n}").replace("{n}", str(years))
    return (in_words(years, draw.language) if draw.form == "words" else None) or str(years)


_MONEY: Final = salt_of("money")
_STEPS: Final = (1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000, 50_000)
_SPREAD: Final = (
    2, 3, 5, 12, 25, 40, 75, 120, 180, 260, 350, 480, 650, 900, 1250, 1800,
    2600, 3900, 5200, 7500, 12_000, 18_000, 27_000, 45_000, 80_000, 150_000, 320_000,
)  # fmt: skip

_CURRENCY: Final = {"code": 0, "name": 1, "symbol": 2}
_CURRENCIES: Final = (
    ("USD", "US dollar", "$"), ("EUR", "euro", "€"), ("GBP", "pound sterling", "£"), ("CHF", "Swiss franc", "Fr."), ("JPY", "yen", "¥"),
    ("CAD", "Canadian dollar", "C$"), ("AUD", "Australian dollar", "A$"), ("SEK", "Swedish krona", "kr"), ("DKK", "Danish krone", "kr."),
    ("BRL", "real", "R$"), ("INR", "Indian rupee", "₹"), ("PLN", "złoty", "zł"), ("KRW", "won", "₩"), ("CNY", "yuan", "元"),
)  # fmt: skip


def money(draw: Draw) -> str:
    """Draw an amount: one like the original, or one in the currency and usual format of the text's country.

    It is the number alone for ``form="bare"``: the text has the currency. The forms code, name and symbol are those of a currency.
    """
    seed = mix(draw.seed, _MONEY)
    original = draw.original
    other = with_other_number(
        original, draw.language, AMOUNT, lambda number: resized(number, seed), lambda n: n + 1 + below(seed, max(1, n // 2))
    )
    if other is not None:
        return other
    facts = facts_of(draw.country).money
    if draw.form in _CURRENCY:
        own = next((one for one in _CURRENCIES if one[_CURRENCY["code"]] in " ".join(facts.forms)), None)
        own = own or next((one for one in _CURRENCIES if one[_CURRENCY["symbol"]] in facts.forms[0]), None)
        return (own or pick(style_seed(draw, _MONEY), _CURRENCIES))[_CURRENCY[draw.form]]
    base = pick(seed, _SPREAD) * facts.scale
    step = next((step for step in reversed(_STEPS) if step * 20 <= base), 1)
    amount = int(base * (70 + below(mix(seed, 1), 61)) / 100 / step) * step or step
    text = in_groups(max(1, amount), facts.group, pairs=draw.country == "IN")
    if facts.cents and amount < 1000 * facts.scale and below(mix(seed, 2), 3) == 0:
        text += f"{facts.decimal}{pick(mix(seed, 3), ('00', '50', '95', '99', '25', '75', '40', '80'))}"
    return text if draw.form == "bare" else pick(style_seed(draw, _MONEY), facts.forms).replace("{n}", text)


_GRADE: Final = salt_of("grade")
_LETTERS: Final = ("A", "A-", "B+", "B", "B-", "C+", "C", "C-", "D", "A+", "D+", "F")


def grade(draw: Draw) -> str:
    """Draw a grade: a letter for a letter, a number on the same scale for a number, else one in a usual format of the language.

    Somebody has many grades, so an owner does not decide which it is.
    """
    original = draw.original.strip()
    seed = mix(draw.seed, _GRADE)
    if original[:1].upper() in {"A", "B", "C", "D", "F"} and len(original) <= 2:
        known = [grade for grade in _LETTERS if grade != original.upper()]
        return pick(seed, known)
    if original[:1] in FIGURES and original:
        return other_score(original, seed)
    return draw_phrase("grade", draw, seed)


_PERCENT: Final = salt_of("percent")
_DECIMAL: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_USUAL_PERCENTAGES: Final = (5, 10, 12, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95)
_SPACED: Final = frozenset({"de", "fr", "sv"})  # languages with a space before the sign


def percent(draw: Draw) -> str:
    """Draw a percentage: one near the original, else a usual one; only the number for ``form="bare"``, as in "[PERCENT] percent"."""
    seed = mix(draw.seed, _PERCENT)
    original = draw.original
    other = with_other_number(
        original, draw.language, _DECIMAL, lambda number: other_score(number, seed), lambda old: max(1, old - 1 - below(seed, 5))
    )
    if other is not None:
        return other
    number = pick(seed, _USUAL_PERCENTAGES) if below(mix(seed, 1), 3) else 1 + below(mix(seed, 2), 99)
    if draw.form == "words":
        return in_words(number, draw.language) or str(number)
    return str(number) if draw.form == "bare" else f"{number} %" if draw.language in _SPACED else f"{number}%"
