"""The subtypes of every type: how often each is drawn when any will do, and by which drawer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from foundation.errors import UsageError
from pii_values import contacts, dates, documents, finance, identifiers, looks, places
from pii_values import drawers as d
from pii_values.drawers import Drawer
from pii_values.sampling import Weighted, weighted

# Subtypes of which a person has exactly one value; they are drawn first, so that the others make way for them.
_FIXED: Final = frozenset({"years", "full_name", "first_name"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One subtype: ``share`` is its weight when any subtype will do; ``fixed``: the same person always has the same value."""

    subtype: str
    share: float
    draw: Drawer
    fixed: bool = False


def _kinds(**drawers: tuple[float, Drawer]) -> tuple[Kind, ...]:
    return tuple(Kind(subtype=name, share=share, draw=draw, fixed=name in _FIXED) for name, (share, draw) in drawers.items())


_KINDS: Final[dict[str, tuple[Kind, ...]]] = {
    "occupation": _kinds(job_title=(1, d.job_title)),
    "health": _kinds(
        condition=(4, d.condition),
        medication=(3, d.treatment("medications")),
        procedure=(2, d.treatment("procedures")),
        disability=(1.5, d.listed("disabilities")),
        allergy=(1.5, d.listed("allergies")),
    ),
    "demographic": _kinds(
        nationality=(3, d.nationality),
        ethnicity=(2.5, d.ethnicity),
        gender_identity=(1, d.gender_identity),
        language=(2, d.language),
        immigration_status=(1.5, d.immigration),
    ),
    "finance": _kinds(
        # Pay whose digits another value has (38,500 at the age of 38) is put a thousand and a hundred higher.
        income=(3, lambda p, _rng, n: finance.written_amount(p.income + 1_100 * (n // 4), p.locale)),
        debt=(3, d.debt),
        savings=(3, d.savings),
        credit_score=(1.5, lambda p, rng, _n: str(finance.draw_credit_score(p.locale, rng))),
        benefit=(1, d.listed("benefits")),
    ),
    "age": _kinds(years=(3, lambda p, _rng, _n: str(p.age)), age_group=(1, d.age_group)),
    "education": _kinds(degree=(2, d.degree), school=(1.5, d.school), student_status=(1, d.student_status)),
    "location": _kinds(
        city=(3, d.city),
        region=(1.2, lambda p, rng, n: places.draw_region_name(p.place, p.locale, rng, elsewhere=n > 0)),
        country=(1.5, lambda p, rng, _n: places.draw_country(rng, home=p.country, origin=p.origin)),
        address=(2, lambda p, rng, n: p.street_address if n == 0 else places.draw_street(p.locale, rng)),
    ),
    "organization": _kinds(
        company=(3, d.organisation("company")),
        hospital=(2, d.organisation("hospital")),
        charity=(1, d.organisation("charity")),
        club=(1, d.organisation("club")),
    ),
    "relationship": _kinds(kin=(3, d.kin), marital_status=(1, d.marital_status)),
    "sexual orientation": _kinds(orientation=(1, d.own_or_listed(lambda p: p.orientation, "identity", "orientation"))),
    "belief": _kinds(
        religion=(2, d.religion),
        political=(1, d.own_or_listed(lambda p: p.political, "beliefs", "political")),
        philosophy=(1, d.own_or_listed(lambda p: p.philosophy, "beliefs", "philosophy")),
    ),
    "name": _kinds(
        full_name=(2, lambda p, _rng, _n: p.full_name),
        first_name=(2, lambda p, _rng, _n: p.given_name),
        username=(1, d.username),
    ),
    "code": _kinds(
        payment_card=(1, lambda p, rng, _n: identifiers.draw_payment_card(p.locale, rng)),
        bank_account=(1, lambda p, rng, _n: identifiers.draw_bank_account(p.locale, rng)),
        national_id=(1, lambda p, rng, _n: identifiers.draw_national_id(p.locale, p.family_name, rng)),
        passport=(1, lambda p, rng, _n: documents.draw_passport(p.locale, rng)),
        driving_licence=(1, d.licence),
        licence_plate=(1, lambda p, rng, _n: documents.draw_licence_plate(p.locale, p.place.vehicle, rng)),
        ticket=(1, lambda _p, rng, _n: documents.draw_ticket(rng)),
        email=(2, d.email),
        phone=(2, lambda p, rng, n: p.phone if n == 0 else contacts.draw_phone(p.locale, p.place, rng)),
    ),
    "datetime": _kinds(
        date=(3, d.date),
        time=(2, lambda p, rng, _n: dates.draw_time(p.locale, rng)),
        duration=(2, lambda _p, rng, _n: dates.draw_duration(rng)),
        year=(1.5, lambda p, rng, _n: dates.draw_year(p.birth_date, rng)),
    ),
    "appearance": _kinds(
        height=(1, lambda p, rng, _n: looks.written_height(p.height_cm, p.locale, rng)),
        # A weight whose number another value has (61 kg at the age of 61) is put a kilogram higher.
        weight=(1.5, lambda p, rng, n: looks.written_weight(p.weight_kg + n // 4, p.locale, rng)),
        hair=(2, d.hair),
        eyes=(1, d.eyes),
        body_mark=(2, lambda p, rng, _n: looks.draw_body_mark(p.locale, p.age, rng)),
        build=(1, lambda p, rng, _n: looks.draw_build(p.locale, p.age, rng)),
    ),
}

KINDS: Final[Mapping[str, tuple[Kind, ...]]] = MappingProxyType(_KINDS)


@cache
def kinds_for(entity_type: str, subtypes: tuple[str, ...] | None) -> Weighted[Kind]:
    """The kinds of a type (None: all, else the named ones), weighted; raises ``UsageError`` for unknown names."""
    known = KINDS.get(entity_type)
    if known is None:
        raise UsageError(f"no values for type {entity_type!r}", remedy=f"Known: {', '.join(KINDS)}.")
    names = [kind.subtype for kind in known]
    unknown = [name for name in subtypes or () if name not in names]
    if unknown:
        raise UsageError(f"type {entity_type!r} has no subtype {unknown[0]!r}", remedy=f"Known: {', '.join(names)}.")
    return weighted((kind, kind.share) for kind in known if not subtypes or kind.subtype in subtypes)
