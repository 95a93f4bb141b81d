"""Identifiers in a text, intended or not: e-mail, URL, IP, card, IBAN, SSN, phone, by the patterns of the entity catalogue.

They are strict: "7:45 pm", "$14,300", 5'7", "2012-2019" and order numbers do not match. What a match is, the catalogue says
(``piiloom entities show email``); the words around it do not count, since a record may hold a number without any label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from piiloom.patterns.engine import PatternEngine


_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "email": "email",
        "url": "url",
        "ipv4": "ip",
        "ipv6": "ip",
        "payment_card": "card",
        "iban": "iban",
        "us_ssn": "ssn",
        "phone": "phone",
        "us_local_phone": "phone",
    }
)


# What each identifier has, cheap to look for: a digit, an "@" (or "[at]"), or a dot or colon with no blank behind it, as in URLs; also
# what ``fold`` makes such a sign of. A text without any of these needs no engine, which takes a third of a second to make.
# The expressions begin with a set, so that ``re`` is fast, and faster where it is of ASCII.
_NEEDED_ASCII: Final = re.compile(r"[0-9@.:\])}](?:(?<=[0-9@])|(?<=[.:])(?=\S)|(?<=[aA][tT][\])}]))")


_NEEDED: Final = re.compile(r"[\d@٫\uff01-\uff5e.:﹕\])}〕】](?:(?<=[^.:﹕\])}〕】])|(?<=[.:﹕])(?=\S)|(?<=[aA][tT][\])}〕】]))")


def find_identifiers(text: str, region: str | None) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield (kind, half-open range) of all identifiers in text order; kinds: email, url, ip, card, iban, ssn, phone.

    *region* (ISO 3166 alpha-2) decides what a national telephone number looks like.
    """
    if (_NEEDED_ASCII if text.isascii() else _NEEDED).search(text) is None:
        return
    from piiloom.patterns.resolving import THRESHOLD, disjoint  # noqa: PLC0415 - as the engine: many runs need neither

    for match in disjoint(_engine(region).find(text, floor=THRESHOLD, context=False)):
        yield _KINDS[match.entity.id], (match.start, match.end)


@cache
def _engine(region: str | None) -> PatternEngine:
    from piiloom.patterns.engine import PatternEngine  # noqa: PLC0415
    from piiloom.taxonomy.entities.entity_catalogue import entities_of_any_place  # noqa: PLC0415

    return PatternEngine(entities_of_any_place(frozenset(_KINDS), region))
