"""Validators by name: whether a number that a pattern found can be one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from importlib.resources import files
from typing import Final

from piiloom.foundation.errors import ConfigError

Validator = Callable[[str], bool]

_STRIPPED: Final = str.maketrans("", "", " .-/")
_OWN: dict[str, Validator] = {}


def validator(function: Validator) -> Validator:
    """Register *function*, which is given a number without blanks, dots, slashes and hyphens, as ``piiloom:<its name>``."""
    _OWN[function.__name__] = _bare(function)
    return function


def validator_of_text(function: Validator) -> Validator:
    """Register *function*, which is given the text as it was matched, as ``piiloom:<its name>``."""
    _OWN[function.__name__] = function
    return function


@cache
def _load_own() -> None:
    for entry in files("piiloom.taxonomy.entities.validators").iterdir():
        if entry.name.endswith(".py") and entry.name not in ("__init__.py", "registry.py"):
            import_module(f"piiloom.taxonomy.entities.validators.{entry.name[:-3]}")


@lru_cache(maxsize=1024)
def find_validator(name: str, region: str | None = None) -> Validator:
    """Return the validator *name*; it takes the text as it was matched. *region* (ISO 3166 alpha-2) is for ``phonenumbers:*``.

    Raises ``ConfigError`` if there is none.
    """
    kind, _, rest = name.partition(":")
    if kind == "stdnum" and rest:
        return _bare(_stdnum(rest))
    if kind == "piiloom":
        _load_own()
        if rest not in _OWN:
            raise ConfigError(f"there is no validator {name!r}", remedy=f"Ours: {', '.join(sorted(_OWN))}")
        return _OWN[rest]
    if kind == "phonenumbers" and rest:
        return _phone(region if rest == "*" else rest)
    raise ConfigError(f"there is no validator {name!r}", remedy="Write stdnum:<module>, piiloom:<function> or phonenumbers:<region>")


def _bare(rule: Validator) -> Validator:
    return lambda text: rule(text.translate(_STRIPPED))


def _stdnum(module: str) -> Validator:
    try:
        rule: Validator = import_module(f"stdnum.{module}").is_valid
    except (ImportError, AttributeError):
        raise ConfigError(f"python-stdnum has no module {module!r} with a check", remedy="Look it up in python-stdnum") from None
    return rule


def _phone(region: str | None) -> Validator:
    import phonenumbers  # noqa: PLC0415 - its metadata takes a while to load, and not every locale needs it

    if region is not None and region not in phonenumbers.SUPPORTED_REGIONS:
        raise ConfigError(f"phonenumbers knows no region {region!r}", remedy="Write a region as PL")

    def valid(text: str) -> bool:
        try:
            return phonenumbers.is_valid_number(phonenumbers.parse(text, region))
        except phonenumbers.NumberParseException:
            return False

    return valid
