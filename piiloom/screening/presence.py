"""Presence gate: each entity type on which the answer depends has a high-relevance span."""

from __future__ import annotations

from types import MappingProxyType

from piiloom.corpus.record import Record
from piiloom.screening.gate import Expectations, Verdict


class PresenceGate:
    """Refuses records in which a type of the pair (or of ``high_types``) has no high-relevance span."""

    name = "presence"
    codes = MappingProxyType({"presence.no_high_span": "a type that must be of high relevance has no such span"})

    def check(self, record: Record, expected: Expectations) -> Verdict | None:
        """Return a verdict for the first type without a high-relevance span."""
        present = {span.entity_type for span in record.spans if span.relevance == "high"}
        for entity_type in expected.pair if expected.high_types is None else expected.high_types:
            if entity_type not in present:
                return Verdict(code="presence.no_high_span", detail=f"no high-relevance span of type {entity_type}")
        return None
