"""Unlisted gate: identifiers that a pattern finds in the text must be covered by spans; so must the findings of a trained detector.

A match is covered if it lies in a span, or in neighboring spans with only punctuation or spaces between them. A match that is
outside of spans, or extends beyond its span, is unmarked personal information, unless it is public: the mailbox of an office
(``support@…``) or a toll-free number. The question must contain only public ones.

A detector trained by ``piiloom probe --out`` finds values without a form, which no pattern describes ("my girlfriend", "a nurse"), but
nothing beyond its training; what it finds in the context must overlap a span. It errs more often than a pattern; ``docs/probe.md`` gives
the rate by threshold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from piiloom.corpus.record import Record, Span
from piiloom.screening.gates import Expectations, GateVerdict
from piiloom.tagging.model import TaggedSpan, TaggingModel
from piiloom.tagging.model_folder import FAMILY, load_tagging_model, model_digest

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


OPTION: Final = "--screen-model"
THRESHOLD: Final = 0.9


@dataclass(slots=True, kw_only=True)
class TrainedDetector:
    """Looks for unlisted values with at least *threshold* as score. Questions are not looked at: it has learnt from contexts."""

    model: TaggingModel = field(repr=False)
    name: str
    threshold: float
    _last: tuple[str, tuple[TaggedSpan, ...]] = field(default=("", ()), repr=False)

    def unlisted(self, record: Record) -> list[TaggedSpan]:
        """Return what it finds in the context of *record* and no span overlaps, in text order."""
        if self._last[0] != record.context:  # records of one text come one after the other
            self._last = record.context, tuple(self.model.tag(record.context, threshold=self.threshold))
        return [one for one in self._last[1] if not any(span.start < one.end and one.start < span.end for span in record.spans)]

    def told(self, found: TaggedSpan) -> str:
        """Say where and how sure, and nothing of the text."""
        return f"{found.entity_type} in the context at [{found.start}, {found.end}), found by {FAMILY} {self.name}, score {found.score:.2f}"


def trained_detector(folder: Path, *, threshold: float | None = None) -> TrainedDetector:
    """Return the detector in *folder*; *threshold* None: ``THRESHOLD``.

    Raises ``UsageError`` and ``DataError`` for a folder that has none.
    """
    least = THRESHOLD if threshold is None else threshold
    return TrainedDetector(model=load_tagging_model(folder, option=OPTION), name=folder.name, threshold=least)


def detector_digest(folder: Path, *, threshold: float | None = None) -> tuple[str, float]:
    """Return the digest of the model in *folder* and the threshold in use: both shape the findings. Raises ``UsageError`` without one."""
    return model_digest(folder, option=OPTION), THRESHOLD if threshold is None else threshold


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
