"""Payment cards, IBANs and national account numbers: their check digits and groups."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from piiloom.pii_values.numbering.check_digits import check_of, checked
from piiloom.pii_values.numbering.choices import Choices
from piiloom.pii_values.numbering.reserved import BANKS

# Belgian bank codes that exist: python-stdnum rejects others.
_BELGIAN_BANKS: Final = tuple("001 035 050 063 068 091 103 111 143 220 310 363 377 400 440 523 643 732 750 850 860 967 979".split())
_TRIES: Final = 40


def card_number(head: str, length: int, choices: Choices) -> str:
    """Draw a card number of *length* digits that begins with *head*; the last one is its Luhn digit."""
    return checked(head + choices.digits(1, length - 1 - len(head)), "luhn")


def card_in_groups(number: str, sign: str) -> str:
    """Write a card number in groups of four (of fifteen digits: four, six and five) with *sign* between them."""
    cuts = (0, 4, 10, 15) if len(number) == 15 else (0, 4, 8, 12, 16)
    return sign.join(number[a:b] for a, b in pairwise(cuts))


def bank_code(choices: Choices) -> str:
    """Draw a made-up bank code of four letters."""
    return choices.one_of(5, BANKS)


def iban(country: str, body: str, choices: Choices) -> str:
    """Return an IBAN of *country* with its ISO 7064 check digits.

    *body* is the part after the check digits. For Belgium, Spain and Norway it is changed so that the national check digits are valid, too.
    """
    match country:
        case "BE":
            body = choices.one_of(6, _BELGIAN_BANKS) + body[3:10]
            body += f"{int(body) % 97 or 97:02d}"
        case "ES":
            body = body[:8] + check_of(body, "es.ccc:calc_check_digits") + body[10:]
        case "NO":
            body = _norwegian(body, choices)
        case _:
            pass
    return f"{country}{check_of(f'{country}00{body}', 'iban:calc_check_digits')}{body}"


def in_fours(number: str) -> str:
    """Write an IBAN in groups of four."""
    return " ".join(number[at : at + 4] for at in range(0, len(number), 4))


def _norwegian(body: str, choices: Choices) -> str:
    """Return ten digits and their check digit (weights 5 4 3 2 7 6 5 4 3 2, modulo 11).

    Numbers without a check digit are skipped. *body* is returned if all ``_TRIES`` have none.
    """
    for turn in range(_TRIES):
        ten = f"{1000 + int(body[:4]) % 9000}" + choices.digits(10 + turn, 6)
        check = -sum(int(d) * w for d, w in zip(ten, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2), strict=True)) % 11
        if check < 10 and ten[4:6] != "00":
            return f"{ten}{check}"
    return body


def national_account(country: str, value: str) -> str:
    """Set the check digits of a national account number (not an IBAN), in countries that have them."""
    if country == "AR":
        number = checked(value[:7], "ar.cbu") + value[8:21]
        return number + check_of(number[8:], "ar.cbu")
    if country == "MA":  # RIB: bank, town, account, key modulo 97 (Bank Al-Maghrib)
        return f"{value[:22]}{97 - int(value[:22] + '00') % 97:02d}"
    if country == "MX":  # CLABE: weights 3 7 1, modulo 10 (Banco de México)
        body = value[:17]
        return body + str(-sum(int(d) * (3, 7, 1)[at % 3] % 10 for at, d in enumerate(body)) % 10)
    return value
