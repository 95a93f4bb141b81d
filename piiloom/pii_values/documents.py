"""Draw passport, driving license, plate and booking numbers, and numbers given by schools, employers and insurers.

Only their shapes are realistic. Shapes that ``data/countries.yaml`` gives for a locale under ``shapes`` replace the defaults here.
"""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values.countries import shaped
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.identifiers import draw_national_id
from piiloom.pii_values.numbering.masks import drawn, one_drawn
from piiloom.pii_values.persona import Persona

_TICKETS: Final = ("BK", "TK", "RF", "ORD", "INV", "CLM", "RES", "PX", "JB", "WR", "SR", "CX", "DL", "VN", "KT", "HB")
_MONTHS_FOR_WOMEN: Final = 50  # added to the month of a British driver number
_PASSPORTS: Final = {
    "en_GB": ("%########",),
    "en_CA": ("@@######",),
    "en_AU": ("N#######", "PA#######", "PB#######", "PC#######", "RA#######"),
    "en_IN": ("@%######",),
    "en_SG": ("E#######@", "K#######@"),
}
_EMPLOYEES: Final = ("EMP-#####", "E######", "00#####", "@#####", "EID######", "###-####", "P#######", "W-######", "%#####")


def draw_passport(locale: str, rng: random.Random) -> str:
    """Draw a passport number: US letter and 8 digits or 9 digits, GB 9 digits, CA 2 letters and 6 digits, AU and IN letter(s), 7 digits."""
    masks = _PASSPORTS.get(locale)
    if masks is not None:
        return drawn(rng.choice(masks) if len(masks) > 1 else masks[0], rng)
    return shaped("passport", locale, rng) or rng.choice(("A", "Y", drawn("%", rng))) + drawn("########", rng)


def draw_driving_licence(holder: Persona, rng: random.Random) -> str:
    """Draw a license number. As with real ones, the British one contains the holder's name and birth date, the Indian one the state."""
    family, birth = holder.family_name, holder.birth_date
    match holder.locale:
        case "en_GB":
            name = "".join(c for c in family.upper() if c.isascii() and c.isalpha())[:5].ljust(5, "9")
            month = birth.month + (_MONTHS_FOR_WOMEN if holder.gender == "female" else 0)
            born = f"{birth.year // 10 % 10}{month:02d}{birth.day:02d}{birth.year % 10}"
            return f"{name} {born} {holder.given_name[0].upper()}9{drawn('%@@', rng)}"
        case "en_CA":
            tail = drawn("##############", rng)
            return f"{family[0].upper()}{tail[:4]}-{tail[4:9]}-{tail[9:]}" if rng.random() < 0.6 else drawn("#######", rng)
        case "en_AU":
            return drawn(rng.choice(("########", "#########")), rng)
        case "en_IN":
            issued = min(REFERENCE_DATE.year - 1, birth.year + 18 + int(rng.random() * 12))
            return f"{holder.place.vehicle}{rng.randint(1, 60):02d} {issued}{drawn('#######', rng)}"
        case "en_SG":
            return draw_national_id(holder.locale, family, rng)  # a Singapore licence bears the identity card's number
        case _:
            american = ("@#######", "########", "#########", f"{family[0].upper()}############")
            return shaped("driving_licence", holder.locale, rng) or one_drawn(american, rng)


def draw_licence_plate(locale: str, vehicle: str | None, rng: random.Random) -> str:
    """Draw a license plate in a shape of the locale; *vehicle* is the Indian state's registration code."""
    match locale:
        case "en_GB":
            year = rng.randint(2, 25) + rng.choice((0, 50))
            return f"{drawn('@@', rng)}{year:02d} {drawn('@@@', rng)}"
        case "en_CA":
            return drawn("@@@@ ###" if rng.random() < 0.6 else "@@@ ####", rng)
        case "en_AU":
            return drawn("@@", rng) + drawn("@ ##@" if rng.random() < 0.5 else " ## @@", rng)
        case "en_IN":
            return f"{vehicle or 'DL'} {rng.randint(1, 60):02d} {drawn('@@', rng)} {rng.randint(1, 9999):04d}"
        case "en_SG":
            return f"S{drawn('@@', rng)} {rng.randint(1, 9999)} {drawn('@', rng)}"
        case _:
            return shaped("licence_plate", locale, rng) or _american_plate(rng)


def _american_plate(rng: random.Random) -> str:
    return rng.choice([drawn(mask, rng) for mask in ("%@@@###", "@@@ ####", "@@@-####", "### @@@")])


def draw_ticket(rng: random.Random) -> str:
    """A booking, order or claim number: "BK-40917C"."""
    prefix = _TICKETS[int(rng.random() * len(_TICKETS))]
    number = drawn("#####", rng)
    forms = (f"{prefix}-{number}{drawn('@', rng)}", f"{prefix}{number}", f"{prefix}-{drawn('######', rng)}", drawn("@@@###", rng))
    return forms[int(rng.random() * len(forms))]


def draw_student_id(birth_year: int, rng: random.Random) -> str:
    """Draw a student number, often with the year of enrollment: "S2048816", "20214417", "u1804417"."""
    year = min(REFERENCE_DATE.year - 1, birth_year + 18 + int(rng.random() * 6))
    dated = (f"{year}####", f"{year}-#####", f"u{year % 100:02d}#####")
    return one_drawn(("S#######", *dated, "%########", "A########", "STU-######", "@@######", "W0#######"), rng)


def draw_employee_id(rng: random.Random) -> str:
    """Draw an employee number: "EMP-20417", "E104882", "0047712"."""
    return one_drawn(_EMPLOYEES, rng)


def draw_member_id(rng: random.Random) -> str:
    """Draw a member number of an insurance or plan: "XEH884120937", "W2049 88317 01"."""
    forms = [drawn(mask, rng) for mask in ("@@@#########", "W#### ##### ##", "#########-")]
    forms[2] += f"{rng.randint(0, 9):02d}"
    forms += [drawn(mask, rng) for mask in ("@@@###@#####", "H########", "####-####-###", "M#########", "@###-######")]
    return forms[int(rng.random() * len(forms))]


def draw_case_number(rng: random.Random) -> str:
    """Draw the number of a case, claim or file: "2021-CV-004417", "CLM-884102", "24-10773"."""
    year = REFERENCE_DATE.year - 1 - int(rng.random() ** 2 * 9)
    yy = f"{year % 100:02d}"
    forms = [drawn(mask, rng) for mask in (f"{year}-CV-######", "CLM-######", f"{yy}-#####")]
    forms.append(drawn(f"{rng.choice('ABCDFJ')}C-{year}-#####", rng))
    forms.append(drawn(f"{yy}{rng.choice(('CR', 'DR', 'FA', 'PR', 'SC'))}######", rng))
    forms += [drawn(mask, rng) for mask in ("CASE-#######", f"@@@{yy}########", f"####/{year}", f"@@/#####/{yy}")]
    return forms[int(rng.random() * len(forms))]
