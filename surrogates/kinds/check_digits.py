"""What most ids share: check digits by python-stdnum, whose modules are loaded for the countries that need them, and groups of digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Final

TURNS: Final = range(60)  # the bodies that are tried for one that has a check digit


@cache
def _rule(place: str) -> Callable[[str], object]:
    module, _, name = place.partition(":")
    rule: Callable[[str], object] = getattr(import_module(f"stdnum.{module}"), name or "calc_check_digit")
    return rule


def check_of(body: str, place: str) -> str:
    """What a rule of stdnum says of *body*: "pl.pesel" is the ``calc_check_digit`` of that module, "pl.nip:checksum" another function."""
    return str(_rule(place)(body))


def checked(body: str, place: str, blank: str = "") -> str:
    """*body* with its check digits; *blank* is what the rule wants to find in their stead."""
    return body + check_of(body + blank, place)


def first_checked(bodies: Iterable[str], place: str, blank: str = "") -> str:
    """The first of *bodies* that has one check digit; by rules modulo 11 one in eleven has none."""
    for body in bodies:
        check = check_of(body + blank, place)
        if len(check) == 1:
            return body + check
    raise AssertionError  # that many in a row do not happen


def grouped(number: str, shape: str) -> str:
    """*number* with the signs of *shape*, where # stands for one of its characters."""
    return shape.replace("#", "{}").format(*number)
