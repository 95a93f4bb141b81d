"""Exactness gate: every expected value occurs in the context, and every mention of it is a span with the right labels.

``Record`` already refuses spans that are unsorted, empty, overlapping or outside the context. ``piiloom.corpus.word_edges``
defines whole words; ``piiloom.corpus.mention_search`` defines which spellings mention a value.
"""

from __future__ import annotations

from types import MappingProxyType

from piiloom.corpus.mention_search import SearchableText, is_same_value
from piiloom.corpus.normalising import trim
from piiloom.corpus.record import Record, Span
from piiloom.corpus.word_edges import stands_alone
from piiloom.screening.gate import Expectations, ExpectedValue, Verdict


class ExactnessGate:
    """Refuses spans that cut words or do not match their value, values without a span, and mentions without a span."""

    name = "exactness"
    codes = MappingProxyType(
        {
            "exactness.edges": "a span begins or ends inside a word, a number or a grapheme, or with white space",
            "exactness.unexpected_span": "a span belongs to no expected value",
            "exactness.label": "a span's type or relevance is not its value's",
            "exactness.changed_value": "a span's text is another value",
            "exactness.missing_value": "an expected value has no span",
            "exactness.unmarked_mention": "a whole-word mention of a value is no span",
        }
    )

    def check(self, record: Record, expected: Expectations) -> Verdict | None:
        """Check each span, then look for values without a span, then for mentions without a span."""
        values = {value.id: value for value in expected.values}
        for span in record.spans:
            verdict = _judge_span(record, span, values)
            if verdict is not None:
                return verdict
        marked = {span.value_id for span in record.spans}
        for value in expected.values:
            if value.id not in marked:
                return Verdict(code="exactness.missing_value", detail=f"value {value.id} ({value.entity_type}) has no span")
        return _unmarked(record, expected)


def _judge_span(record: Record, span: Span, values: dict[str, ExpectedValue]) -> Verdict | None:
    value = values.get(span.value_id or "")
    if trim(record.context, span.start, span.end) != (span.start, span.end) or not stands_alone(record.context, span.start, span.end):
        code = "edges"
    elif value is None:
        code = "unexpected_span"
    elif (span.entity_type, span.relevance) != (value.entity_type, value.relevance):
        code = "label"
    elif not is_same_value(span.text_in(record.context), value.text):
        code = "changed_value"
    else:
        return None
    return Verdict(
        code=f"exactness.{code}", detail=f"span {span.id} [{span.start}, {span.end}) of value {span.value_id} ({span.entity_type})"
    )


def _unmarked(record: Record, expected: Expectations) -> Verdict | None:
    searchable = SearchableText(record.context)
    spellings = {value.text: value.id for value in expected.values}
    for span in record.spans:
        spellings.setdefault(span.text_in(record.context), span.value_id or "")
    for text, value_id in spellings.items():
        for start, end in searchable.mentions(text):
            # A shorter value inside a longer one's mention is part of that mention.
            if not any(span.start <= start and end <= span.end for span in record.spans):
                detail = f"value {value_id} is mentioned at [{start}, {end}) without a span"
                return Verdict(code="exactness.unmarked_mention", detail=detail)
    return None
