"""Values of the type code."""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values import contacts, documents, identifiers, networks
from piiloom.pii_values.drawers.kind import Kind
from piiloom.pii_values.persona import Persona

_GLUED_AFTER: Final = 4  # attempts after which addresses contain no part of the name as a whole word


def _email(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's address, then others made of the name."""
    if attempt == 0:
        return p.email
    if attempt < _GLUED_AFTER:
        return contacts.draw_email(p.given_name, p.family_name, p.birth_date.year, rng)
    return contacts.draw_glued_email(p.given_name, p.family_name, rng)


def _phone(p: Persona, rng: random.Random, attempt: int) -> str:
    return p.phone if attempt == 0 else contacts.draw_phone(p.locale, p.place, rng)


def _national_id(p: Persona, rng: random.Random, _: int) -> str:
    return identifiers.draw_national_id(p.locale, p.family_name, rng, born=p.birth_date, gender=p.gender)


def _plate(p: Persona, rng: random.Random, _: int) -> str:
    return documents.draw_licence_plate(p.locale, p.place.vehicle, rng)


KINDS: Final = (
    Kind(subtype="payment_card", share=1, draw=lambda p, rng, _n: identifiers.draw_payment_card(p.locale, rng), grown=True),
    Kind(subtype="bank_account", share=1, draw=lambda p, rng, _n: identifiers.draw_bank_account(p.locale, rng)),
    Kind(subtype="national_id", share=1, draw=_national_id),
    Kind(subtype="passport", share=1, draw=lambda p, rng, _n: documents.draw_passport(p.locale, rng)),
    Kind(subtype="driving_licence", share=1, draw=lambda p, rng, _n: documents.draw_driving_licence(p, rng), grown=True),
    Kind(subtype="licence_plate", share=1, draw=_plate, grown=True),
    Kind(subtype="ticket", share=1, draw=lambda _p, rng, _n: documents.draw_ticket(rng)),
    Kind(subtype="email", share=2, draw=_email),
    Kind(subtype="phone", share=2, draw=_phone),
    Kind(subtype="ip_address", share=1, draw=lambda _p, rng, _n: networks.draw_ip_address(rng)),
    Kind(subtype="student_id", share=0.7, draw=lambda p, rng, _n: documents.draw_student_id(p.birth_date.year, rng)),
    Kind(subtype="employee_id", share=0.7, draw=lambda _p, rng, _n: documents.draw_employee_id(rng), grown=True),
    Kind(subtype="member_id", share=1, draw=lambda _p, rng, _n: documents.draw_member_id(rng)),
    Kind(subtype="case_number", share=1, draw=lambda _p, rng, _n: documents.draw_case_number(rng)),
    Kind(subtype="wallet", share=0.7, draw=lambda _p, rng, _n: networks.draw_wallet(rng), grown=True),
)

# Values of catalogue entities that fit the persona; taxonomy files name some of these kinds otherwise.
OF_ENTITIES: Final = (
    Kind(subtype="bank_account_number", share=0, draw=lambda p, rng, _n: identifiers.draw_bank_account(p.locale, rng)),
    Kind(subtype="passport_number", share=0, draw=lambda p, rng, _n: documents.draw_passport(p.locale, rng)),
    Kind(subtype="driving_licence_number", share=0, draw=lambda p, rng, _n: documents.draw_driving_licence(p, rng), grown=True),
    Kind(
        subtype="url",
        share=0,
        draw=lambda p, rng, _n: contacts.draw_site(p.given_name, p.family_name, p.birth_date.year, rng),
    ),
)
