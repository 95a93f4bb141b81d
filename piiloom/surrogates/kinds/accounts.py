"""Payment cards and bank accounts, in the form of the original. Their check digits and groups are those of ``pii_values.numbering``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from piiloom.pii_values.country_facts import facts_of
from piiloom.pii_values.numbering.accounts import (
    bank_code,
    bitcoin,
    card_in_groups,
    card_number,
    ethereum,
    iban,
    in_fours,
    litecoin,
    national_account,
)
from piiloom.pii_values.numbering.holders import Holder, checked
from piiloom.surrogates.documents import below, mix, pick
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.holders import Seeded, holder_of
from piiloom.surrogates.kinds.kind import home_of, numbered_seed, salt_of
from piiloom.surrogates.kinds.masks import digits, fill

_CARD: Final = salt_of("payment_card")
_ACCOUNT: Final = salt_of("bank_account")
# Prefixes of card numbers that card networks and processors publish for tests, and the numbers' lengths. The other digits are free.
_TEST_CARDS: Final = tuple(
    (head, 15 if head[0] == "3" else 16) for head in "411111 401288 424242 400005 555555 510510 222300 378282 371449 601111".split()
)


class _Places(Seeded):
    """Seeded choices whose digits are drawn place by place, since accounts and cards have long runs of them."""

    def digits(self, salt: int, count: int) -> str:
        """As in ``Choices``."""
        return digits(mix(self.seed, salt), count)


def payment_card(draw: Draw) -> str:
    """Draw a card number with a published test prefix and a valid Luhn digit, with the separator that the original has."""
    seed = numbered_seed(draw, _CARD)
    head, length = pick(seed, _TEST_CARDS)
    original = draw.original.strip()
    sign = next((c for c in original if c in " -"), "") if original else pick(mix(seed, 2), (" ", " ", "-", ""))
    return card_in_groups(card_number(head, length, _Places(seed)), sign)


def _bic(choices: _Places, country: str) -> str:
    place = choices.one_of(7, "ABCDEFGHJKLMNPRSTUVW") + choices.one_of(8, "23456789")
    return f"{bank_code(choices)}{country}{place}" + choices.one_of(9, ("", "", "XXX"))


def _routing(choices: _Places, _: str) -> str:
    """Return a number of the American Bankers Association. The first two digits are a district of the Fed."""
    return checked(f"{choices.number(7, 1, 12):02d}{choices.digits(8, 6)}", "us.rtn")


def _sort_code(choices: _Places, _: str) -> str:
    return "-".join(f"{choices.number(7 + at, 10, 99)}" for at in range(3))


# What an account is called by where a tag says so: "[SWIFT_CODE]", "[BITCOIN ADDRESS]".
_OTHER_FORMS: Final[Mapping[str, Callable[[_Places, str], str]]] = {"bic": _bic, "routing": _routing, "sort_code": _sort_code}
_WALLETS: Final[Mapping[str, Callable[[Holder], str]]] = {"bitcoin": bitcoin, "ethereum": ethereum, "litecoin": litecoin}
_WITH_IBAN: Final = ("GB", "DE", "FR", "NL", "ES", "IT", "IE", "BE")  # where the country has none itself, and an IBAN is asked for


def bank_account(draw: Draw) -> str:
    """Draw an IBAN with valid check digits and a made-up bank, or a national account number.

    The latter is used if the country has no IBAN, or if the original does not begin with letters and a national shape is known. Forms:
    iban, whatever the country; bic, routing, sort_code; bitcoin, ethereum, litecoin.
    """
    country = home_of(draw)
    facts = facts_of(country)
    seed = numbered_seed(draw, _ACCOUNT)
    if not draw.original and draw.form in _OTHER_FORMS:
        return _OTHER_FORMS[draw.form](_Places(seed), country)
    if not draw.original and draw.form in _WALLETS:
        return _WALLETS[draw.form](holder_of(draw._replace(owner=None, seed=seed)))
    if draw.form == "iban" and facts.iban is None:
        country = pick(mix(seed, 6), _WITH_IBAN)
        facts = facts_of(country)
    original = draw.original.strip()
    if facts.iban is not None and not (original and facts.bank_account and not original[:2].isalpha()):
        choices = _Places(seed)
        number = iban(country, fill(facts.iban.replace("{bank}", bank_code(choices)), seed), choices)
        spaced = " " in original if original else below(mix(seed, 3), 3) > 0
        return in_fours(number) if spaced else number
    value = national_account(country, fill(pick(mix(seed, 4), facts.bank_account or ["%#########"]), seed))
    return re.sub(r"[ .\-/]", "", value) if original and original.isalnum() else value
