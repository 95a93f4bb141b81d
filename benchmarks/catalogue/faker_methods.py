"""What Faker's providers for the locales of a country draw that identifies somebody, and whether our engine finds it as what it is."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from importlib import import_module
from typing import Any

import faker.providers
from faker import Faker
from faker.config import AVAILABLE_LOCALES

from benchmarks.catalogue.samples import labels, validators_of
from piiloom.patterns.engine import PatternEngine, engine_for
from piiloom.patterns.resolving import disjoint
from piiloom.taxonomy.entities.catalogue_file import Entity
from piiloom.taxonomy.entities.validators.registry import find_validator

DRAWN = 200
_DIGITS = 4  # on average: fewer make no identifier
_NO_IDENTIFIERS = frozenset({"color", "currency", "date_time", "geo", "job", "lorem"})
# Methods that all locales share, and what a locale defines if it has a form of its own.
_SHARED = {
    ("automotive", "license_plate"): "license_formats",
    ("bank", "bban"): "bban_format",
    ("bank", "iban"): "bban_format",
    ("phone_number", "phone_number"): "formats",
    ("address", "postcode"): "postcode_formats",
}
_PHONES = ("??_phone", "??_mobile_phone", "??_landline", "phone")
_POSTCODES = ("??_postcode", "??_postal_code", "??_pincode", "??_cep")
# By method, or locale and method: ids of the entries that its values are, with the wildcards of fnmatch; empty: of none, for a reason.
MEANT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("phone_number", "cellphone_number", "telephone_number"), _PHONES),
    **dict.fromkeys(("postcode", "zipcode", "postalcode", "postcode_in_state"), _POSTCODES),
    "license_plate": ("??_plate", "??_vehicle_plate", "??_licence_plate"),
    "iban": ("??_iban", "iban"),
    "bban": ("??_bank_account", "??_old_bank_account", "pt_nib"),
    "sv_SE.ssn": ("se_personnummer",),
    "sv_SE.org_id": ("se_organisationsnummer",),
    "sv_SE.vat_id": ("se_vat",),
    "zh_CN.ssn": ("cn_resident_id",),
    **dict.fromkeys(("pt_BR.ssn", "pt_BR.cpf", "pt_BR.cin"), ("br_cpf",)),
    **dict.fromkeys(("pt_BR.cnpj", "pt_BR.company_id"), ("br_cnpj",)),
    "pt_BR.rg": ("br_rg", "br_rg_issuer"),
    "pt_PT.vat_id": ("pt_nif", "pt_nipc"),
    **dict.fromkeys(("pl_PL.pesel", "pl_PL.ssn"), ("pl_pesel",)),
    **dict.fromkeys(("pl_PL.nip", "pl_PL.company_vat"), ("pl_nip",)),
    **dict.fromkeys(("pl_PL.regon", "pl_PL.local_regon"), ("pl_regon",)),
    "pl_PL.vat_id": ("pl_vat_eu",),
    "pl_PL.identity_card_number": ("pl_identity_card",),
    "pl_PL.pwz_doctor": ("pl_pwz_doctor",),
    "pl_PL.pwz_nurse": ("pl_pwz_nurse",),
    "en_IN.aadhaar_id": ("in_aadhaar",),
    "en_IN.pan": ("in_pan",),
    "en_IN.gstin": ("in_gstin",),
    "fi_FI.ssn": ("fi_henkilotunnus",),
    "fi_FI.company_business_id": ("fi_business_id",),
    **dict.fromkeys(("fi_FI.company_vat", "fi_FI.vat_id"), ("fi_vat",)),
    "nl_NL.ssn": ("nl_bsn",),
    "nl_NL.vat_id": ("nl_btw_id",),
    "nl_BE.ssn": ("be_national_number",),
    "nl_BE.vat_id": ("be_vat", "be_enterprise_number"),
    "no_NO.ssn": ("no_fodselsnummer",),
    "zh_CN.credit_card_full": (),  # five lines of text
    "ar_AE.area_code": (),  # the country's code
    "ar_AE.toll_number": (),  # a company's free number
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method of a provider, and the entries *meant*.

    Shares of its values: ``valid`` for their checks (None: there is no check); reported ``alone``, without a word around; reported behind
    their first label or context word. ``refused`` are examples that are valid, or have no check, and are not reported.
    """

    locale: str
    name: str
    meant: tuple[str, ...]
    example: str
    valid: float | None
    alone: float
    labeled: float
    refused: tuple[str, ...]


def faker_locales(locale: str) -> list[str]:
    """Faker's locales for the country of *locale*, *locale* itself first."""
    return sorted((one for one in AVAILABLE_LOCALES if one.endswith(locale[2:])), key=lambda one: (one != locale, one))


def methods(locale: str) -> list[Method]:
    """The identifying methods of all of Faker's locales for the country; what several locales have alike is told of the first alone."""
    found: dict[str, Method] = {}
    for theirs in faker_locales(locale):
        for name in _names(theirs):
            if name not in found and (values := _drawn(theirs, name)):
                found[name] = _held(theirs, name, values, engine_for(locale))
    return list(found.values())


def _names(locale: str) -> Iterator[str]:
    for provider in pkgutil.iter_modules(faker.providers.__path__):
        if provider.name in _NO_IDENTIFIERS:
            continue
        try:
            theirs = import_module(f"faker.providers.{provider.name}.{locale}").Provider
        except ModuleNotFoundError:
            continue
        own = (name for name, value in vars(theirs).items() if not name.startswith("_") and inspect.isroutine(value))
        shared = (name for (room, name), data in _SHARED.items() if room == provider.name and data in vars(theirs))
        yield from dict.fromkeys((*own, *shared))


def _drawn(locale: str, name: str) -> list[str]:
    """Values, if it is a method that needs nothing and gives texts with enough digits."""
    maker = Faker(locale)
    maker.seed_instance(7)
    method: Any = getattr(maker, name)
    try:
        values = [method() for _ in range(DRAWN)]
    except TypeError:
        return []
    if not all(isinstance(one, str) for one in values):
        return []
    digits = sum(sum(map(str.isdecimal, one)) for one in values) / DRAWN
    return values if digits >= _DIGITS or name == "license_plate" else []


@lru_cache(maxsize=256)
def _meant(locale: str, name: str, engine: PatternEngine) -> tuple[Entity, ...]:
    patterns = MEANT.get(f"{locale}.{name}", MEANT.get(name))
    if patterns is None:
        raise SystemExit(f"error: nothing says which entry {locale}.{name} of Faker is; add it to MEANT in {__file__}")
    found = (one for pattern in patterns for one in engine.catalogue.entities.values() if fnmatch(one.id, pattern))
    return tuple(dict.fromkeys(found))


def _held(locale: str, name: str, values: Sequence[str], engine: PatternEngine) -> Method:
    meant = _meant(locale, name, engine)
    checks = [find_validator(check, locale[3:]) for entity in meant for check in validators_of(entity)]
    valid = [any(check(value) for check in checks) for value in values]
    alone = [_is_told(engine, "", value, meant) for value in values]
    fronts = [f"{labels(entity)[0]}: " for entity in meant if labels(entity)]
    labeled = [any(_is_told(engine, front, value, meant) for front in fronts) for value in values]
    missed = [value for value, right, found in zip(values, valid, labeled, strict=True) if not found and (right or not checks)]
    return Method(
        locale=locale,
        name=name,
        meant=tuple(one.id for one in meant),
        example=values[0],
        valid=sum(valid) / len(values) if checks else None,
        alone=sum(alone) / len(values),
        labeled=sum(labeled) / len(values),
        refused=tuple(dict.fromkeys(missed))[:6],
    )


def _is_told(engine: PatternEngine, before: str, value: str, meant: Sequence[Entity]) -> bool:
    """Whether *value*, all of it, is reported behind *before* as one of the entries *meant*."""
    place = (len(before), len(before) + len(value))
    return any((one.start, one.end) == place and one.entity in meant for one in disjoint(engine.find(before + value)))
