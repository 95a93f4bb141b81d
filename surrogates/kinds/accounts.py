"""Payment cards and bank accounts, with valid check digits."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.facts import facts_of
from piiloom.surrogates.kinds.kind import home_of, numbered_seed, salt_of
from piiloom.surrogates.kinds.masks import digits, fill
from piiloom.surrogates.seeds import below, mix, pick

_CARD: Final = salt_of("payment_card")
_ACCOUNT: Final = salt_of("bank_account")
# Prefixes of card numbers that card networks and processors publish for tests, and the numbers' lengths. The other digits are free.
_TEST_CARDS: Final = (
    ("411111", 16),
    ("401288", 16),
    ("424242", 16),
    ("400005", 16),
    ("555555", 16),
    ("510510", 16),
    ("222300", 16),
    ("378282", 15),
    ("371449", 15),
    ("601111", 16),
)
# Made-up bank codes of four letters that are not in the SWIFT directory, for account numbers that begin with a bank code.
_BANKS: Final = ("HRTW", "LMBK", "QVST", "RDGE", "WLKN", "ZPHR", "KLDR", "BRXT", "FNWK", "TRVX")
_BELGIAN_BANKS: Final = tuple("001 035 050 063 068 091 103 111 143 220 310 363 377 400 440 523 643 732 750 850 860 967 979".split())
_TRIES: Final = 40


def payment_card(draw: Draw) -> str:
    """Draw a card number with a published test prefix and a valid Luhn digit, with the separator that the original has."""
    from stdnum import luhn  # noqa: PLC0415 - needed only when a card is drawn

    seed = numbered_seed(draw, _CARD)
    head, length = pick(seed, _TEST_CARDS)
    body = head + digits(mix(seed, 1), length - 1 - len(head))
    number = body + luhn.calc_check_digit(body)
    original = draw.original.strip()
    sign = next((c for c in original if c in " -"), "") if original else pick(mix(seed, 2), (" ", " ", "-", ""))
    cuts = (0, 4, 10, 15) if length == 15 else (0, 4, 8, 12, 16)
    return sign.join(number[a:b] for a, b in pairwise(cuts))


def bank_account(draw: Draw) -> str:
    """Draw an IBAN with valid check digits and a made-up bank, or a national account number.

    The latter is used if the country has no IBAN, or if the original does not begin with letters and a national shape is known.
    """
    country = home_of(draw)
    facts = facts_of(country)
    seed = numbered_seed(draw, _ACCOUNT)
    original = draw.original.strip()
    if facts.iban is not None and not (original and facts.bank_account and not original[:2].isalpha()):
        number = iban_of(country, facts.iban, seed)
        spaced = " " in original if original else below(mix(seed, 3), 3) > 0
        return " ".join(number[at : at + 4] for at in range(0, len(number), 4)) if spaced else number
    value = _checked(country, fill(pick(mix(seed, 4), facts.bank_account or ["%#########"]), seed))
    return re.sub(r"[ .\-/]", "", value) if original and original.isalnum() else value


def iban_of(country: str, mask: str, seed: int) -> str:
    """Return an IBAN of *country* with its ISO 7064 check digits.

    *mask* is the part after the check digits (see ``masks``). For Belgium, Spain and Norway the national check digits are valid, too.
    """
    from stdnum import iban  # noqa: PLC0415 - needed only when an account is drawn

    body = fill(mask.replace("{bank}", pick(mix(seed, 5), _BANKS)), seed)
    match country:
        case "BE":
            body = _belgian_bank(seed) + body[3:10]
            body += f"{int(body) % 97 or 97:02d}"
        case "ES":
            from stdnum.es import ccc  # noqa: PLC0415 - as above

            body = body[:8] + ccc.calc_check_digits(body) + body[10:]
        case "NO":
            body = _norwegian(body, seed)
        case _:
            pass
    return f"{country}{iban.calc_check_digits(f'{country}00{body}')}{body}"


def _belgian_bank(seed: int) -> str:
    """Return the three digits of an existing Belgian bank code, because stdnum rejects others."""
    return pick(mix(seed, 6), _BELGIAN_BANKS)


def _norwegian(body: str, seed: int) -> str:
    """Return ten digits and their check digit (weights 5 4 3 2 7 6 5 4 3 2, modulo 11).

    Numbers without a check digit are skipped. *body* is returned if all ``_TRIES`` have none.
    """
    for turn in range(_TRIES):
        ten = f"{1000 + int(body[:4]) % 9000}" + digits(mix(seed, 10 + turn), 6)
        check = -sum(int(d) * w for d, w in zip(ten, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2), strict=True)) % 11
        if check < 10 and ten[4:6] != "00":
            return f"{ten}{check}"
    return body


def _checked(country: str, value: str) -> str:
    """Set the check digits of a national account number (not an IBAN), in countries that have them."""
    if country == "AR":
        from stdnum.ar import cbu  # noqa: PLC0415 - as above

        number = value[:7] + cbu.calc_check_digit(value[:7]) + value[8:21]
        return number + str(cbu.calc_check_digit(number[8:]))
    if country == "MA":  # RIB: bank, town, account, key modulo 97 (Bank Al-Maghrib)
        return f"{value[:22]}{97 - int(value[:22] + '00') % 97:02d}"
    if country == "MX":  # CLABE: weights 3 7 1, modulo 10 (Banco de México)
        body = value[:17]
        return body + str(-sum(int(d) * (3, 7, 1)[at % 3] % 10 for at, d in enumerate(body)) % 10)
    return value
