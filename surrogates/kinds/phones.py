"""Telephone and fax numbers: of a block kept for fiction where the country has one, else valid under libphonenumber.

The plans lie in ``data/phones.yaml`` (made by ``phone_plans`` from libphonenumber's metadata) and ``data/phone_blocks.yaml``
(kept blocks with their sources, which come first).
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.files import PhonePlan, PhonesFile
from piiloom.surrogates.kinds.kind import home_of, numbered_seed, salt_of, style_seed
from piiloom.surrogates.kinds.masks import fill, reshaped
from piiloom.surrogates.seeds import mix, pick

_PHONE: Final = salt_of("phone")
_FAX: Final = salt_of("fax")
_DEFAULT: Final = "US"  # countries without a plan of their own (Antarctica and the like)
_DIGITS: Final = re.compile("[0-9]+")
_EXTENSION: Final = re.compile(r"\s*(?:x|ext\.?|#)\s*[0-9]+\s*$", re.IGNORECASE)


@cache
def _file(name: str) -> dict[str, PhonePlan]:
    return load_yaml(files("piiloom.surrogates") / "data" / name, PhonesFile).plans


@cache
def plan_of(country: str) -> PhonePlan:
    """The numbers of *country*."""
    kept = _file("phone_blocks.yaml")
    if country in kept:
        return kept[country]
    known = _file("phones.yaml")
    return known.get(country) or kept[_DEFAULT]


def phone(draw: Draw) -> str:
    """The owner's number; in the manner of the original, else in one manner for a document."""
    return _written(draw, numbered_seed(draw, _PHONE))


def fax(draw: Draw) -> str:
    """The owner's fax number."""
    return _written(draw, numbered_seed(draw, _FAX))


def _written(draw: Draw, seed: int) -> str:
    plan = plan_of(home_of(draw))
    original = draw.original.strip()
    if original:
        return _like(original, plan, seed)
    style = style_seed(draw, _PHONE) >> 20
    masks = plan.national if style % 4 else plan.international
    number = fill(masks[seed % len(masks)], seed)
    return number.replace(" ", "-") if style % 4 == 2 and "(" not in number and "-" not in number else number


def _like(original: str, plan: PhonePlan, seed: int) -> str:
    """A number written as *original*: with or without the country's code, with its separators and extension."""
    extension = _EXTENSION.search(original)
    tail = (
        _DIGITS.sub(lambda m: reshaped(m.group(), mix(seed, 7)), extension.group()) if extension and original != extension.group() else ""
    )
    body = original.removesuffix(extension.group()) if tail and extension else original
    abroad = body.startswith(("+", "00"))
    number = fill(pick(seed, plan.international if abroad else plan.national), seed)
    if body.startswith("00"):
        number = "00" + number.removeprefix("+")
    if re.fullmatch(r"\+?[0-9]+", body):
        number = re.sub(r"[^0-9+]", "", number)
    elif "(" not in body:
        sign = next((sign for sign in ".-/" if sign in body), " ")
        number = re.sub(r"[^0-9+]+", sign, number).strip(sign)
    return number + tail
