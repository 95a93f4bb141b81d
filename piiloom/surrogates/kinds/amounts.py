"""Amounts of money; currency sign, digit grouping, decimals and magnitude of the original are kept."""

from __future__ import annotations

import re
from typing import Final

from piiloom.pii_values.country_facts import facts_of
from piiloom.pii_values.numbering.holders import in_groups
from piiloom.surrogates.documents import below, mix, pick
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.calendars import other_word
from piiloom.surrogates.kinds.kind import salt_of, style_seed

_MONEY: Final = salt_of("money")
_DIGITS: Final = re.compile(r"[0-9](?:[0-9.,'  ]*[0-9])?")
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
    if original:
        found = _DIGITS.search(original)
        if found is not None:
            return original[: found.start()] + _resized(found.group(), seed) + original[found.end() :]
        spelled = other_word(original, draw.language, lambda n: n + 1 + below(seed, max(1, n // 2)))
        if spelled is not None:
            return spelled
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


def _resized(text: str, seed: int) -> str:
    """Return a number with as many digits as *text*; separators and trailing zeros are kept: "52,400" → "47,800"."""
    places = [at for at, c in enumerate(text) if c.isdigit()]
    cents = len(text) > 3 and text[-3] in ".," and text[-2:].isdigit()
    whole = places[:-2] if cents else places
    zeros = 0
    for at in reversed(whole[1:]):
        if text[at] != "0":
            break
        zeros += 1
    out = list(text)
    free = whole[: len(whole) - zeros]
    for turn, at in enumerate(free):
        low = 1 if at == places[0] and text[at] != "0" else 0
        old = int(text[at])
        if turn == 0 and len(free) > 1:  # change the first digit by at most one, to keep the magnitude
            out[at] = str(min(9, max(low, old - 1 + below(mix(seed, turn), 3))))
        else:
            new = low + below(mix(seed, turn), 10 - low)
            out[at] = str(new if new != old else low + (new - low + 1) % (10 - low))
    if cents and text[-2:] != "00":
        out[-2:] = f"{below(mix(seed, 50), 99):02d}"
    return "".join(out)
