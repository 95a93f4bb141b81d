"""Draw passport, driving license, plate and booking numbers, and numbers given by schools, employers and insurers.

Only their shapes are realistic. Shapes that ``data/countries.yaml`` gives for a locale under ``shapes`` replace the defaults here.
"""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values.countries import shaped
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.identifiers import digits, draw_national_id
from piiloom.pii_values.persona import Persona

_LETTERS: Final = "ABCDEFGHJKLMNPRSTUVWXYZ"  # I, O and Q are left out on most documents
_TICKETS: Final = ("BK", "TK", "RF", "ORD", "INV", "CLM", "RES", "PX", "JB", "WR", "SR", "CX", "DL", "VN", "KT", "HB")
_MONTHS_FOR_WOMEN: Final = 50  # added to the month of a British driver number


def letters(count: int, rng: random.Random) -> str:
    """*count* random capital letters without I, O and Q."""
    return "".join(_LETTERS[int(rng.random() * len(_LETTERS))] for _ in range(count))


def draw_passport(locale: str, rng: random.Random) -> str:
    """Draw a passport number: US letter and 8 digits or 9 digits, GB 9 digits, CA 2 letters and 6 digits, AU and IN letter(s), 7 digits."""
    match locale:
        case "en_GB":
            return str(rng.randint(1, 9)) + digits(8, rng)
        case "en_CA":
            return letters(2, rng) + digits(6, rng)
        case "en_AU":
            return rng.choice(("N", "PA", "PB", "PC", "RA")) + digits(7, rng)
        case "en_IN":
            return letters(1, rng) + str(rng.randint(1, 9)) + digits(6, rng)
        case "en_SG":
            return f"{rng.choice('EK')}{digits(7, rng)}{letters(1, rng)}"
        case _:
            return shaped("passport", locale, rng) or rng.choice(("A", "Y", str(rng.randint(1, 9)))) + digits(8, rng)


def draw_driving_licence(holder: Persona, rng: random.Random) -> str:
    """Draw a license number. As with real ones, the British one contains the holder's name and birth date, the Indian one the state."""
    family, birth = holder.family_name, holder.birth_date
    match holder.locale:
        case "en_GB":
            name = "".join(c for c in family.upper() if c.isascii() and c.isalpha())[:5].ljust(5, "9")
            month = birth.month + (_MONTHS_FOR_WOMEN if holder.gender == "female" else 0)
            born = f"{birth.year // 10 % 10}{month:02d}{birth.day:02d}{birth.year % 10}"
            return f"{name} {born} {holder.given_name[0].upper()}9{rng.randint(1, 9)}{letters(2, rng)}"
        case "en_CA":
            tail = digits(14, rng)
            return f"{family[0].upper()}{tail[:4]}-{tail[4:9]}-{tail[9:]}" if rng.random() < 0.6 else digits(7, rng)
        case "en_AU":
            return digits(rng.choice((8, 9)), rng)
        case "en_IN":
            issued = min(REFERENCE_DATE.year - 1, birth.year + 18 + int(rng.random() * 12))
            return f"{holder.place.vehicle}{rng.randint(1, 60):02d} {issued}{digits(7, rng)}"
        case "en_SG":
            return draw_national_id(holder.locale, family, rng)  # a Singapore licence bears the identity card's number
        case _:
            return shaped("driving_licence", holder.locale, rng) or _american_licence(family, rng)


def _american_licence(family: str, rng: random.Random) -> str:
    forms = (letters(1, rng) + digits(7, rng), digits(8, rng), digits(9, rng), f"{family[0].upper()}{digits(12, rng)}")
    return forms[int(rng.random() * len(forms))]


def draw_licence_plate(locale: str, vehicle: str | None, rng: random.Random) -> str:
    """Draw a license plate in a shape of the locale; *vehicle* is the Indian state's registration code."""
    match locale:
        case "en_GB":
            year = rng.randint(2, 25) + rng.choice((0, 50))
            return f"{letters(2, rng)}{year:02d} {letters(3, rng)}"
        case "en_CA":
            return f"{letters(4, rng)} {digits(3, rng)}" if rng.random() < 0.6 else f"{letters(3, rng)} {digits(4, rng)}"
        case "en_AU":
            head = letters(2, rng)
            return (
                f"{head}{letters(1, rng)} {digits(2, rng)}{letters(1, rng)}"
                if rng.random() < 0.5
                else f"{head} {digits(2, rng)} {letters(2, rng)}"
            )
        case "en_IN":
            return f"{vehicle or 'DL'} {rng.randint(1, 60):02d} {letters(2, rng)} {rng.randint(1, 9999):04d}"
        case "en_SG":
            return f"S{letters(2, rng)} {rng.randint(1, 9999)} {letters(1, rng)}"
        case _:
            return shaped("licence_plate", locale, rng) or _american_plate(rng)


def _american_plate(rng: random.Random) -> str:
    forms = (f"{rng.randint(1, 9)}{letters(3, rng)}{digits(3, rng)}", f"{letters(3, rng)} {digits(4, rng)}")
    return rng.choice((*forms, f"{letters(3, rng)}-{digits(4, rng)}", f"{digits(3, rng)} {letters(3, rng)}"))


def draw_ticket(rng: random.Random) -> str:
    """A booking, order or claim number: "BK-40917C"."""
    prefix = _TICKETS[int(rng.random() * len(_TICKETS))]
    number = digits(5, rng)
    forms = (f"{prefix}-{number}{letters(1, rng)}", f"{prefix}{number}", f"{prefix}-{digits(6, rng)}", f"{letters(3, rng)}{digits(3, rng)}")
    return forms[int(rng.random() * len(forms))]


def draw_student_id(birth_year: int, rng: random.Random) -> str:
    """Draw a student number, often with the year of enrollment: "S2048816", "20214417", "u1804417"."""
    year = min(REFERENCE_DATE.year - 1, birth_year + 18 + int(rng.random() * 6))
    forms = (
        f"S{digits(7, rng)}",
        f"{year}{digits(4, rng)}",
        f"{year}-{digits(5, rng)}",
        f"u{year % 100:02d}{digits(5, rng)}",
        f"{rng.randint(1, 9)}{digits(8, rng)}",
        f"A{digits(8, rng)}",
        f"STU-{digits(6, rng)}",
        f"{letters(2, rng)}{digits(6, rng)}",
        f"W0{digits(7, rng)}",
    )
    return forms[int(rng.random() * len(forms))]


def draw_employee_id(rng: random.Random) -> str:
    """Draw an employee number: "EMP-20417", "E104882", "0047712"."""
    forms = (
        f"EMP-{digits(5, rng)}",
        f"E{digits(6, rng)}",
        f"00{digits(5, rng)}",
        f"{letters(1, rng)}{digits(5, rng)}",
        f"EID{digits(6, rng)}",
        f"{digits(3, rng)}-{digits(4, rng)}",
        f"P{digits(7, rng)}",
        f"W-{digits(6, rng)}",
        f"{rng.randint(1, 9)}{digits(5, rng)}",
    )
    return forms[int(rng.random() * len(forms))]


def draw_member_id(rng: random.Random) -> str:
    """Draw a member number of an insurance or plan: "XEH884120937", "W2049 88317 01"."""
    forms = (
        f"{letters(3, rng)}{digits(9, rng)}",
        f"W{digits(4, rng)} {digits(5, rng)} {digits(2, rng)}",
        f"{digits(9, rng)}-{rng.randint(0, 9):02d}",
        f"{letters(3, rng)}{digits(3, rng)}{letters(1, rng)}{digits(5, rng)}",
        f"H{digits(8, rng)}",
        f"{digits(4, rng)}-{digits(4, rng)}-{digits(3, rng)}",
        f"M{digits(9, rng)}",
        f"{letters(1, rng)}{digits(3, rng)}-{digits(6, rng)}",
    )
    return forms[int(rng.random() * len(forms))]


def draw_case_number(rng: random.Random) -> str:
    """Draw the number of a case, claim or file: "2021-CV-004417", "CLM-884102", "24-10773"."""
    year = REFERENCE_DATE.year - 1 - int(rng.random() ** 2 * 9)
    forms = (
        f"{year}-CV-{digits(6, rng)}",
        f"CLM-{digits(6, rng)}",
        f"{year % 100:02d}-{digits(5, rng)}",
        f"{rng.choice('ABCDFJ')}C-{year}-{digits(5, rng)}",
        f"{year % 100:02d}{rng.choice(('CR', 'DR', 'FA', 'PR', 'SC'))}{digits(6, rng)}",
        f"CASE-{digits(7, rng)}",
        f"{letters(3, rng)}{year % 100:02d}{digits(8, rng)}",
        f"{digits(4, rng)}/{year}",
        f"{letters(2, rng)}/{digits(5, rng)}/{year % 100:02d}",
    )
    return forms[int(rng.random() * len(forms))]
