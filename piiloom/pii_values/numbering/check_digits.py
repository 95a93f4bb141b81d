"""Helpers for ids: check digits by python-stdnum, whose modules are imported on first use, and digit grouping."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Final

TURNS: Final = range(60)  # attempts to find a body that has a check digit


@cache
def _rule(place: str) -> Callable[[str], object]:
    module, _, name = place.partition(":")
    rule: Callable[[str], object] = getattr(import_module(f"stdnum.{module}"), name or "calc_check_digit")
    return rule


def check_of(body: str, place: str) -> str:
    """Return the result of a stdnum function on *body*, as text.

    *place* is a module of stdnum whose ``calc_check_digit`` is called ("pl.pesel"), or module and function ("pl.nip:checksum").
    """
    return str(_rule(place)(body))


def checked(body: str, place: str, blank: str = "") -> str:
    """Return *body* with its check digits appended. *blank* is the filler that the rule expects in their place."""
    return body + check_of(body + blank, place)


def first_checked(bodies: Iterable[str], place: str, blank: str = "") -> str:
    """Return the first of *bodies* that has a single check digit, with it; under modulo 11 rules one in eleven has none.

    Raises ``AssertionError`` if none has one.
    """
    for body in bodies:
        check = check_of(body + blank, place)
        if len(check) == 1:
            return body + check
    raise AssertionError  # practically impossible with as many bodies as in TURNS


def completed(body: str, module: str, count: int) -> str | None:
    """Return *body* with the first *count* check digits that ``stdnum.<module>`` accepts; None if it accepts none."""
    accepts = _rule(f"{module}:is_valid")
    return next((number for tail in range(10**count) if accepts(number := f"{body}{tail:0{count}d}")), None)


def grouped(number: str, shape: str) -> str:
    """Format *number* by *shape*, in which each # stands for one of its characters: ("123456", "###-###") gives "123-456"."""
    return shape.replace("#", "{}").format(*number)
