"""Swedish bank accounts: each bank has its own rule, which the clearing number tells."""

from __future__ import annotations

from typing import Final

from stdnum import luhn

from piiloom.taxonomy.entities.validators.registry import validator

# First clearing number, last, and how accounts of this range are checked: see _swedish_account.
_CLEARING: Final = (
    (1100, 2099, "a"),
    (2300, 2399, "b"),
    (2400, 2499, "a"),
    (3300, 3300, "c"),
    (3782, 3782, "c"),
    (3000, 3999, "a"),
    (4000, 4999, "b"),
    (5000, 5999, "a"),
    (6000, 6999, "h"),
    (7000, 7999, "a"),
    (8000, 8999, "s"),
    (9020, 9029, "b"),
    (9040, 9049, "b"),
    (9060, 9079, "a"),
    (9100, 9109, "b"),
    (9120, 9149, "a"),
    (9150, 9169, "b"),
    (9170, 9179, "a"),
    (9180, 9189, "c"),
    (9190, 9199, "b"),
    (9230, 9239, "a"),
    (9250, 9259, "a"),
    (9260, 9269, "b"),
    (9270, 9289, "a"),
    (9300, 9349, "c"),
    (9390, 9399, "b"),
    (9400, 9469, "a"),
    (9470, 9479, "b"),
    (9500, 9549, "p"),
    (9550, 9569, "b"),
    (9570, 9579, "c"),
    (9580, 9589, "a"),
    (9590, 9599, "b"),
    (9630, 9639, "a"),
    (9640, 9679, "b"),
    (9680, 9689, "a"),
    (9700, 9719, "b"),
    (9750, 9759, "b"),
    (9780, 9789, "b"),
    (9880, 9889, "b"),
    (9890, 9899, "c"),
    (9960, 9969, "p"),
)


@validator
def se_bank_account(number: str) -> bool:
    """Swedish clearing number and account number, checked as the bank of the clearing number does it.

    Source: Bankgirot, "Bankernas kontonummer" (the two account types and their comments), by range of clearing numbers.
    """
    digits = "".join(character for character in number if character.isdigit())
    if not 11 <= len(digits) <= 15:
        return False
    clearing = int(digits[:4])
    kind = next((kind for first, last, kind in _CLEARING if first <= clearing <= last), None)
    return kind is not None and _swedish_account(digits, kind)


def _swedish_account(digits: str, kind: str) -> bool:
    """Check an account by the kind of its bank.

    a: 7 digits, modulus 11 without the first digit of the clearing number; b: with it; c: 10 digits, modulus 10; h: Handelsbanken,
    9 digits, modulus 11; s: Swedbank, modulus 10, perhaps with a fifth clearing digit; p: Plusgirot, up to 10 digits, modulus 10.
    """
    account = digits[4:]
    if kind in "ab":
        return len(account) == 7 and _modulus_11(digits[1:] if kind == "a" else digits)
    if kind == "c":
        return len(account) == 10 and luhn.is_valid(account)
    if kind == "h":
        return len(account) in (8, 9) and _modulus_11(account)
    if kind == "s":
        return luhn.is_valid(account) or (luhn.is_valid(digits[:5]) and luhn.is_valid(digits[5:]))
    return len(account) <= 10 and luhn.is_valid(account)


def _modulus_11(digits: str) -> bool:
    """Whether the sum weighted 1 to 10 from the right, and 1 again, is a multiple of 11."""
    return sum(int(digit) * (at % 10 + 1) for at, digit in enumerate(reversed(digits))) % 11 == 0
