"""Unlisted gate: identifiers that a pattern finds in the text must be covered by spans.

A match is covered if it lies in a span, or in neighboring spans with only punctuation or spaces between them. A match that is
outside of spans, or extends beyond its span, is unmarked personal information, unless it is public: the mailbox of an office
(``support@…``) or a toll-free number. The question must contain only public ones. A trained detector may look, too; what it finds
in the context must overlap a span.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from piiloom.corpus.record import Record, Span
from piiloom.screening.gate import Expectations, GateVerdict
from piiloom.screening.identifiers import find_identifiers
from piiloom.screening.trained_detector import TrainedDetector

# Mailboxes of offices (RFC 2142 and what else is usual), and toll-free numbers of North America.
_PUBLIC: Final = {
    "email": re.compile(
        r"(?:(?:no|do-?not)[-._]?reply|info|contact|support|help|help-?desk|service|customer[-._]?(?:service|care|support)|care|office|"
        r"hello|mail|team|feedback|sales|orders?|bookings?|reservations?|tickets?|billing|accounts|payments?|returns|claims|hr|jobs|"
        r"careers|payroll|benefits|admissions?|registrar|enrollment|news(?:letter)?|notifications?|alerts?|updates|security|abuse|"
        r"privacy|legal|press|media|marketing|events?|webmaster|postmaster|hostmaster|admin|members(?:hip)?|donations?|volunteer)@",
        re.IGNORECASE,
    ),
    "phone": re.compile(r"(?:\+?1[-. ]?)?\(?8(?:00|33|44|55|66|77|88)\)?[-. ]"),
}


class UnlistedGate:
    """Refuses records with an e-mail or IP address, URL, phone, card, account or social security number outside of spans.

    And, with a *detector*, records with what that finds.
    """

    name = "unlisted"
    codes = MappingProxyType(
        {
            "unlisted.email": "an e-mail address is no span",
            "unlisted.url": "a web address is no span",
            "unlisted.card": "a payment card number is no span",
            "unlisted.iban": "a bank account number (IBAN) is no span",
            "unlisted.ssn": "a US social security number is no span",
            "unlisted.ip": "an IP address is no span",
            "unlisted.phone": "a telephone number is no span",
            "unlisted.detected": "a trained detector finds personal information that is no span",
        }
    )

    def __init__(self, detector: TrainedDetector | None = None) -> None:
        self._detector = detector

    def check(self, record: Record, expected: Expectations) -> GateVerdict | None:
        """Check the context, then the question; look-alikes that the story intends are not refused."""
        region = record.locale.partition("_")[2] or None
        for part, text, spans in (("context", record.context, record.spans), ("question", record.question or "", ())):
            for kind, (start, end) in find_identifiers(text, region):
                intended = any(text[start:end].casefold() in known for known in expected.lookalikes)
                public = kind in _PUBLIC and _PUBLIC[kind].match(text, start, end)
                if not intended and not public and not _is_covered(text, start, end, spans):
                    return GateVerdict(code=f"unlisted.{kind}", detail=f"in the {part} at [{start}, {end})")
        if self._detector is not None and (found := self._detector.unlisted(record)):
            return GateVerdict(code="unlisted.detected", detail=self._detector.told(found[0]))
        return None


def _is_covered(text: str, start: int, end: int, spans: Sequence[Span]) -> bool:
    """Whether every letter and digit of ``text[start:end]`` lies in a span."""
    position = start
    for span in spans:
        if span.end <= position or span.start >= end:
            continue
        if any(c.isalnum() for c in text[position : max(position, span.start)]):
            return False
        position = min(span.end, end)
    return not any(c.isalnum() for c in text[position:end])
