"""Ids issued by a state: national and tax ids by country, passports, driver's licenses, license plates.

The rules are those of ``pii_values.numbering``; this module says whose number it is, by which rule or in which shape, and keeps the
separators of the original. Countries without a rule get numbers of a neutral shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from piiloom.pii_values.country_facts import facts_of, id_rule
from piiloom.pii_values.numbering.holders import rule_of
from piiloom.surrogates.documents import mix, pick
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.holders import holder_of, holder_seed
from piiloom.surrogates.kinds.kind import home_of, numbered_seed, salt_of
from piiloom.surrogates.kinds.masks import fill

_ID: Final = salt_of("national_id")
_TAX: Final = salt_of("tax_id")
_PAPERS: Final = {name: salt_of(name) for name in ("passport", "driving_licence", "licence_plate")}
_SEPARATORS: Final = re.compile(r"[ .\-/]")


def _like(original: str, value: str) -> str:
    """Return *value* without separators if there is an original that has none."""
    return _SEPARATORS.sub("", value) if original and not _SEPARATORS.search(original.strip()) else value


def _number(draw: Draw, rule: str | None, salt: int) -> str:
    if rule is None:
        return fill("%########", mix(holder_seed(draw), salt))
    # National and tax id use the same salt, so that they agree in countries where one is or contains the other.
    return _like(draw.original, rule_of(rule)(holder_of(draw, _ID)))


def national_id(draw: Draw) -> str:
    """Draw the owner's national id, without separators if the original has none.

    In the United Kingdom it is an NHS number for ``form="nhs"`` or if the original consists of digits.
    """
    country = home_of(draw)
    if country == "GB" and (draw.form == "nhs" or (draw.original and re.fullmatch(r"[0-9 ]+", draw.original))):
        return _number(draw, "western_european_ids:nhs", _ID)
    return _number(draw, id_rule(country), _ID)


def tax_id(draw: Draw) -> str:
    """Draw the owner's tax id, without separators if the original has none."""
    country = home_of(draw)
    return _number(draw, id_rule(country, tax=True), _TAX)


def _paper(name: str) -> Callable[[Draw], str]:
    salt = _PAPERS[name]

    def drawn(draw: Draw) -> str:
        seed = numbered_seed(draw, salt)
        mask = pick(mix(seed, 1), getattr(facts_of(home_of(draw)), name))
        if "{" in mask:
            holder = holder_of(draw)
            mask = mask.replace("{yymmdd}", f"{holder.born:%y%m%d}").replace("{ddmmyy}", f"{holder.born:%d%m%y}")
            mask = mask.replace("{F}", holder.family[:1] or "X")
        return _like(draw.original, fill(mask, seed))

    drawn.__doc__ = f"A number of kind {name!r} in a shape of the country."
    return drawn


passport = _paper("passport")
driving_licence = _paper("driving_licence")
licence_plate = _paper("licence_plate")
