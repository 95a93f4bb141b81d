"""Put other values in the place of a record's spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from piiloom.corpus.record import Record, Span


def with_values(record: Record, values: Sequence[str | None]) -> Record:
    """Return *record* with ``values[n]`` in the place of its span number n, and all offsets moved; None keeps the text.

    An empty value removes the text, and the span with it. The question is left as it is. Raises ``ValueError`` if there is not
    one value for each span.
    """
    pieces: list[str] = []
    spans: list[Span] = []
    done, length = 0, 0
    for span, value in zip(record.spans, values, strict=True):
        between, new = record.context[done : span.start], span.text_in(record.context) if value is None else value
        pieces += (between, new)
        start = length + len(between)
        done, length = span.end, start + len(new)
        if new:
            spans.append(replace(span, start=start, end=length))
    pieces.append(record.context[done:])
    return replace(record, context="".join(pieces), spans=tuple(spans))
