"""Machine-readable zones of passports and identity cards, and bar codes of boarding passes, of people who do not exist."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from piiloom.pii_values.numbering.holders import Holder
from piiloom.pii_values.numbering.masks import LETTERS
from piiloom.taxonomy.entities.validators.travel_documents import mrz_check

_COUNTRIES: Final = dict(
    zip("SE PL NL FI NO PT BE BR AE VN CN SG IN GB".split(), "SWE POL NLD FIN NOR PRT BEL BRA ARE VNM CHN SGP IND GBR".split(), strict=True)
)
_FAMILY: Final = "LINDQVIST KOWALCZYK JANSSEN VIRTANEN HANSEN FERREIRA PEETERS NGUYEN OKORO WHITLOCK SHARMA TANAKA".split()
_GIVEN: Final = "ANNA JONAS MIKA SOFIA RUI LINH TOMEK KAISA DANA NOOR TIAGO ELIN".split()
_AIRPORTS: Final = "ARN WAW AMS HEL OSL LIS BRU GRU DXB SGN PEK SIN DEL LHR".split()
_AIRLINES: Final = "SK LO KL AY TP EK VN CA SQ AI".split()
_TEN_YEARS: Final = 3650


def _with_check(field: str) -> str:
    return f"{field}{mrz_check(field)}"


def _number(h: Holder) -> str:
    return _with_check(h.one_of(1, LETTERS) + h.one_of(2, LETTERS) + h.digits(3, 7))


def _dates(h: Holder) -> tuple[str, str, str]:
    """Birth date, sex and expiry date as they stand in a zone."""
    expiry = h.anchor + timedelta(days=h.number(4, 30, _TEN_YEARS))
    return _with_check(f"{h.born:%y%m%d}"), "F" if h.female else "M", _with_check(f"{expiry:%y%m%d}")


def _country(h: Holder) -> str:
    return _COUNTRIES.get(h.region) or h.one_of(7, list(_COUNTRIES.values()))


def _names(h: Holder, most: int) -> str:
    """The holder's names in at most so many characters, or such as nobody has."""
    family, given = (h.family, h.given) if h.family and h.given else (h.one_of(5, _FAMILY), h.one_of(6, _GIVEN))
    return f"{family}<<{given}".replace(" ", "<")[:most]


def passport(h: Holder) -> str:
    """Draw both lines of a passport (TD3)."""
    country, number = _country(h), _number(h)
    born, sex, expiry = _dates(h)
    personal = _with_check(h.one_of(8, (h.digits(9, 10), "", "")).ljust(14, "<"))
    check = mrz_check(number + born + expiry + personal)
    return f"{f'P<{country}{_names(h, 39)}':<<44}\n{number}{country}{born}{sex}{expiry}{personal}{check}"


def id_card(h: Holder) -> str:
    """Draw the three lines of an identity card (TD1)."""
    country, number = _country(h), _number(h)
    born, sex, expiry = _dates(h)
    first = f"{f'I<{country}{number}':<<30}"
    check = mrz_check(first[5:] + born + expiry + "<" * 11)
    return f"{first}\n{born}{sex}{expiry}{country}{'<' * 11}{check}\n{_names(h, 30):<<30}"


def boarding_pass(h: Holder) -> str:
    """Draw the mandatory items of a bar-coded boarding pass (IATA Resolution 792, one leg)."""
    name = _names(h, 21).replace("<<", "/").replace("<", " ")[:20]
    locator = "".join(h.one_of(10 + at, LETTERS) for at in range(6))
    start = h.one_of(20, _AIRPORTS)
    end = h.one_of(21, [one for one in _AIRPORTS if one != start])
    flight = f"{h.one_of(22, _AIRLINES)} {h.number(23, 1, 9999):04d}"
    seat = f"{h.number(24, 1, 40):03d}{h.one_of(25, 'ABCDEF')}{h.number(26, 1, 200):04d}"
    return f"M1{name:<20}E{locator} {start}{end}{flight} {h.number(27, 1, 365):03d}Y{seat} 100"
