"""Length gate: the number of words of the context is within the requested bounds."""

from __future__ import annotations

from types import MappingProxyType

from piiloom.corpus.record import Record
from piiloom.foundation.words import count_words
from piiloom.screening.gate import Expectations, Verdict


class LengthGate:
    """Refuses contexts with fewer or more words than requested."""

    name = "length"
    codes = MappingProxyType(
        {"length.short": "the context has fewer words than asked for", "length.long": "the context has more words than asked for"}
    )

    def check(self, record: Record, expected: Expectations) -> Verdict | None:
        """Count the words of the context."""
        count = count_words(record.context)
        if count < expected.min_words:
            return Verdict(code="length.short", detail=f"{count} words, at least {expected.min_words} asked for")
        if expected.max_words is not None and count > expected.max_words:
            return Verdict(code="length.long", detail=f"{count} words, at most {expected.max_words} asked for")
        return None
