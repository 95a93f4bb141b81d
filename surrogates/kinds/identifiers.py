"""Ids issued by a state: national and tax ids by country, passports, driver's licenses, license plates.

``RESERVED`` lists the ranges that authorities keep free and that numbers are drawn from. python-stdnum rightly rejects some of them as
invalid. Countries without a rule get numbers of a neutral shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Final

from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.facts import facts_of
from piiloom.surrogates.kinds.holders import Holder, holder_of
from piiloom.surrogates.kinds.kind import home_of, numbered_seed, salt_of
from piiloom.surrogates.kinds.masks import fill
from piiloom.surrogates.seeds import mix, pick

RESERVED: Final = {
    "US": ("987-65-4320 to 4329, and area 900-999 with group 01-49", "Social Security Administration: never assigned (RM 10201.035)"),
    "CA": ("social insurance numbers that begin with 0", "Service Canada: not assigned to people"),
    "GB": (
        "NHS 999 000 0000 to 999 999 9999; NI prefixes BG, GB, KN, NK, NT, TN, ZZ and QQ",
        "NHS Digital test range; HMRC manual NIM39110",
    ),
    "SE": ("birth numbers 980 to 999", "Skatteverket: personal numbers for tests"),
    "FI": ("individual numbers 900 to 999", "Digital and Population Data Services Agency: temporary and test numbers"),
    "NO": ("birth date with 80 added to the month", "Skatteetaten: synthetic people (Tenor)"),
    "SG": ("last letters K to X behind S and T", "the series of F and G has them; no S or T card does"),
}
_ID: Final = salt_of("national_id")
_TAX: Final = salt_of("tax_id")
_PAPERS: Final = {name: salt_of(name) for name in ("passport", "driving_licence", "licence_plate")}
# Rules for countries that have no entry in countries.yaml.
_OTHERS: Final = {
    "BG": "eastern_ids:egn",
    "EE": "nordic_ids:isikukood",
    "HR": "eastern_ids:oib",
    "LT": "nordic_ids:isikukood",
    "LV": "nordic_ids:personas_kods",
    "RU": "eastern_ids:inn",
    "SI": "eastern_ids:emso",
    "SK": "eastern_ids:rodne_cislo",
    "UA": "eastern_ids:rnokpp",
}
_SEPARATORS: Final = re.compile(r"[ .\-/]")


@cache
def rule_of(place: str) -> Callable[[Holder], str]:
    """Import the rule named *place*, as "module:function" ("eastern_ids:pesel")."""
    module, _, name = place.partition(":")
    rule: Callable[[Holder], str] = getattr(import_module(f"piiloom.surrogates.kinds.{module}"), name)
    return rule


def _number(draw: Draw, rule: str | None, salt: int) -> str:
    holder = holder_of(draw)
    if rule is None:
        return fill("%########", mix(holder.seed, salt))
    # National and tax id use the same salt, so that they agree in countries where one is or contains the other.
    value = rule_of(rule)(holder._replace(seed=mix(holder.seed, _ID)))
    return _SEPARATORS.sub("", value) if draw.original and not _SEPARATORS.search(draw.original.strip()) else value


def national_id(draw: Draw) -> str:
    """Draw the owner's national id, without separators if the original has none.

    In the United Kingdom it is an NHS number for ``form="nhs"`` or if the original consists of digits.
    """
    country = home_of(draw)
    if country == "GB" and (draw.form == "nhs" or (draw.original and re.fullmatch(r"[0-9 ]+", draw.original))):
        return _number(draw, "european_ids:nhs", _ID)
    return _number(draw, _OTHERS.get(country) or facts_of(country).national_id, _ID)


def tax_id(draw: Draw) -> str:
    """Draw the owner's tax id, without separators if the original has none."""
    country = home_of(draw)
    return _number(draw, _OTHERS.get(country) or facts_of(country).tax_id, _TAX)


def _paper(name: str) -> Callable[[Draw], str]:
    salt = _PAPERS[name]

    def drawn(draw: Draw) -> str:
        seed = numbered_seed(draw, salt)
        mask = pick(mix(seed, 1), getattr(facts_of(home_of(draw)), name))
        if "{" in mask:
            holder = holder_of(draw)
            mask = mask.replace("{yymmdd}", f"{holder.born:%y%m%d}").replace("{ddmmyy}", f"{holder.born:%d%m%y}")
            mask = mask.replace("{F}", holder.family[:1] or "X")
        value = fill(mask, seed)
        return _SEPARATORS.sub("", value) if draw.original and not _SEPARATORS.search(draw.original.strip()) else value

    drawn.__doc__ = f"A number of kind {name!r} in a shape of the country."
    return drawn


passport = _paper("passport")
driving_licence = _paper("driving_licence")
licence_plate = _paper("licence_plate")
