"""Strict patterns that find identifiers (e-mail, URL, IP, card, IBAN, SSN, phone) in a text, intended or not.

Each finder yields half-open code-point ranges. They are strict: "7:45 pm", "$14,300", 5'7", "2012-2019" and order
numbers do not match. Card numbers pass the Luhn check or are four groups of four digits that begin with 3 to 6; IBANs have
valid check digits; IP addresses parse; telephone numbers have the North American form, the international "+" form or a
trunk zero, or are valid in the region.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator

import phonenumbers
from stdnum import iban, luhn

Range = tuple[int, int]

# Cheap test before the slow patterns: all numeric identifiers except IP addresses match it, and most texts do not.
_SEVEN_DIGITS = re.compile(r"\d(?:[^\w]{0,3}\d){6}|[A-Z]{2}\d{2} ?[A-Z0-9]{4}")
_EMAIL = re.compile(r"[\w.%+-]+@\w[\w-]*(?:\.\w[\w-]*)+")
_TOP_LEVEL = r"com|org|net|edu|gov|info|biz|example|co\.uk|org\.uk|co\.in|com\.au"  # no words ("tired.in the end")
_URL = re.compile(
    rf"(?:https?|ftp)://[^\s<>\"]+|(?<![\w@])www\.[\w-]+\.[^\s<>\"]+|(?<![\w@.-])[a-z0-9][a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:{_TOP_LEVEL})\b(?![\w@-])(?:/[^\s<>\"]*)?"
)
_URL_HINT = re.compile(rf"://|www\.|\w\.(?:{_TOP_LEVEL})\b")
_CARD = re.compile(r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])")
_CARD_GROUPS = re.compile(r"[3-6]\d{3}([ -])\d{4}\1\d{4}\1\d{4}")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_SSN = re.compile(r"(?<![\w-])\d{3}([- ])\d{2}\1\d{4}(?![\w-])")
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)")
_IPV6 = re.compile(r"(?<![\w:])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")
_NORTH_AMERICAN = re.compile(
    r"(?<![\w-])(?:\+?1[-. ]?)?(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w-])|(?<![\w$£€.,-])[2-9]\d{2}-\d{4}(?![\w-])"
)
_INTERNATIONAL = re.compile(r"(?<!\w)\+\d{1,3}[ .-]?\(?\d(?:[ ().-]{0,2}\d){5,13}(?!\w)")
# National numbers with a trunk zero: ten or eleven digits in two or three groups. A pattern, since validators refuse fictitious ones.
_TRUNK = re.compile(
    r"(?<![\w$£€₹.,/-])\(?0(?:\d{2}\)?[ -]\d{4}[ -]?\d{4}|\d{3}\)?[ -]\d{3}[ -]?\d{3,4}|\d{4}\)?[ -]\d{3}[ -]?\d{3})(?![\w/]|[.,]\d)"
)
_PHONE_LIKE = re.compile(r"(?<![\w$£€₹.,/-])\(?\d(?:[ ().-]{0,2}\d){8,13}(?![\w/]|[.,]\d)")


def find_emails(text: str) -> Iterator[Range]:
    """E-mail addresses."""
    if "@" in text:
        yield from (m.span() for m in _EMAIL.finditer(text))


def find_urls(text: str) -> Iterator[Range]:
    """Web addresses with a scheme, with "www.", or as a lower-case domain with a common top-level domain."""
    if _URL_HINT.search(text):
        for found in _URL.finditer(text):
            yield found.start(), found.start() + len(found.group().rstrip(".,;:!?)'\"”’"))


def find_cards(text: str) -> Iterator[Range]:
    """Payment cards: 13 to 19 digits that pass Luhn, or four groups of four that begin with 3 to 6."""
    for found in _CARD.finditer(text):
        if _CARD_GROUPS.fullmatch(found.group()) or luhn.is_valid(re.sub(r"\D", "", found.group())):
            yield found.span()


def find_ibans(text: str) -> Iterator[Range]:
    """International bank account numbers with valid check digits, also if more groups of capitals or digits follow."""
    for found in _IBAN.finditer(text):
        number = found.group()
        while number:
            if iban.is_valid(number):
                yield found.start(), found.start() + len(number)
                break
            number = number.rpartition(" ")[0]


def find_ssns(text: str) -> Iterator[Range]:
    """US social security numbers by their shape, with hyphens or spaces; reserved ones too."""
    yield from (m.span() for m in _SSN.finditer(text))


def find_ips(text: str) -> Iterator[Range]:
    """IP addresses of both versions."""
    for pattern, hint in ((_IPV4, "."), (_IPV6, ":")):
        for found in pattern.finditer(text) if hint in text else ():
            if _is_ip(found.group()):
                yield found.span()


def find_phones(text: str, region: str | None) -> Iterator[Range]:
    """Telephone numbers; *region* (ISO 3166, "US") decides what a national number looks like."""
    plain = [found.span() for pattern in (_NORTH_AMERICAN, _INTERNATIONAL, _TRUNK) for found in pattern.finditer(text)]
    yield from plain
    for found in _PHONE_LIKE.finditer(text):
        # The matcher costs at least 0.3 ms, so it is run only on runs of nine digits or more that are not yet found.
        if any(start <= found.start() and found.end() <= end for start, end in plain):
            continue
        for match in phonenumbers.PhoneNumberMatcher(found.group(), region, leniency=phonenumbers.Leniency.VALID):
            yield found.start() + match.start, found.start() + match.end


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return any(c.isdigit() for c in text)


_ALWAYS: dict[str, Callable[[str], Iterator[Range]]] = {"email": find_emails, "url": find_urls, "ip": find_ips}
_NUMERIC: dict[str, Callable[[str], Iterator[Range]]] = {"card": find_cards, "iban": find_ibans, "ssn": find_ssns}


def find_identifiers(text: str, region: str | None) -> Iterator[tuple[str, Range]]:
    """Yield (kind, range) of all identifiers; kinds: email, url, ip, card, iban, ssn, phone. *region* is for ``find_phones``."""
    for kind, find in _ALWAYS.items():
        for place in find(text):
            yield kind, place
    if not _SEVEN_DIGITS.search(text):
        return
    for kind, find in _NUMERIC.items():
        for place in find(text):
            yield kind, place
    for place in find_phones(text, region):
        yield "phone", place
