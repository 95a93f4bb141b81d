"""Which modules of python-stdnum for a country our catalogue checks with, and what stands for the others."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module

import piiloom.taxonomy.entities.validators as own_validators
from benchmarks.catalogue.samples import MOST, entries, samples, validators_of

# What stands for modules that none of a locale's entries checks with and that accept the values of none.
ELSEWHERE = {"no.iban": "the universal iban; its account number, no_bank_account, has the check that the module adds"}
_STRIPPED = str.maketrans("", "", " .-/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module of a country's package.

    ``used_by``: entries that check with it, themselves or in a validator of ours that calls it. ``accepts``: if there are none, entries of
    which it accepts most drawn values.
    """

    name: str
    title: str
    used_by: tuple[str, ...]
    accepts: tuple[str, ...]


def modules(locale: str) -> list[Module]:
    """The modules for the country of *locale*; aliases in the package's ``__init__`` are no modules."""
    country = locale[3:].lower()
    package = f"{country}_" if country == "in" else country
    try:
        found = import_module(f"stdnum.{package}")
    except ModuleNotFoundError:
        return []
    return [_module(locale, f"{package}.{one.name}") for one in pkgutil.iter_modules(found.__path__) if not one.ispkg]


def _module(locale: str, name: str) -> Module:
    module = import_module(f"stdnum.{name}")
    checks = {f"stdnum:{name}", *(f"piiloom:{one}" for one in _callers().get(f"stdnum.{name}", ()))}
    used_by = tuple(one.id for one in entries(locale).values() if checks & validators_of(one))
    title = str(module.__doc__ or name).strip().splitlines()[0].rstrip(".")
    return Module(name=name, title=title, used_by=used_by, accepts=() if used_by else _accepted(locale, module.is_valid))


@lru_cache(maxsize=1)
def _callers() -> dict[str, list[str]]:
    """Our validators by the modules of python-stdnum that they call."""
    found: dict[str, list[str]] = {}
    for validator, module in _calls():
        found.setdefault(module, []).append(validator)
    return found


def _calls() -> Iterator[tuple[str, str]]:
    for file in pkgutil.iter_modules(own_validators.__path__):
        members = vars(import_module(f"{own_validators.__name__}.{file.name}"))
        for name, one in members.items():
            for used in getattr(getattr(one, "__code__", None), "co_names", ()):
                yield name, getattr(members.get(used), "__name__", "")


def _accepted(locale: str, is_valid: Callable[[str], bool]) -> tuple[str, ...]:
    shares = {entity: sum(map(is_valid, (one.translate(_STRIPPED) for one in values))) for entity, values in samples(locale).items()}
    return tuple(entity for entity, count in shares.items() if count >= MOST * len(samples(locale)[entity]))
