"""Masked JSONL: each text in four variants, for training and judging what rewrites texts. It can be written only.

- ``masked``: every value is ``[MASKED]``.
- ``typed``: its type and a number, ``[NAME_1]``; equal values of a type share the number.
- ``relevance_aware``: values of low relevance are typed placeholders, those of high relevance stay, and those without a relevance are
  placeholders, too; null for a record in which no span has a relevance.
- ``surrogates``: every value is another one of its type (``pii_values.redrawing``), equal values the same one; the records of a
  contrast group get the same ones. A value that cannot be redrawn is its typed placeholder, and an entry of the loss report.

A variant has its text, its question and the spans of what stands at the places now. A value that the question tells is replaced there
as well, if it stands as a whole word exactly as in the context. Surrogates are derived from the record and a secret key: from the record
alone, a value that somebody guesses could be proved by its surrogate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import Final

from piiloom.corpus.formats.base import LOST_FIELDS, Json, LossEntry, WriteOptions
from piiloom.corpus.formats.native_rows import JsonRowWriter
from piiloom.corpus.mention_search import stands_alone
from piiloom.corpus.record import Record, Span, with_span_values
from piiloom.foundation.seeding import derive_rng
from piiloom.taxonomy.entity_types import Taxonomy

MASK: Final = "[MASKED]"
NOT_REDRAWN: Final = "no other value of its type is known; its surrogate is the placeholder"
WRONG_ARTICLE: Final = "no other value is known that fits the article before it; its surrogate does not"
LEFT_IN_QUESTION: Final = "the question holds the value in another form or inside a word; it stays there"
_ARTICLE_LENGTH: Final = 5  # of "an", what is before it and a blank or two
_NO_NAME: Final = re.compile(r"\W+")

# Returns another value for (span, its value, values to avoid), or None.
_Redraw = Callable[[Span, str, Container[str]], str | None]


class MaskedFormat(JsonRowWriter):
    """The masked format; see the module docstring."""

    name = "masked"
    suffix = ".jsonl"
    lost_fields = LOST_FIELDS

    def row(self, record: Record, options: WriteOptions, entries: list[LossEntry]) -> Json:
        """See ``JsonRowWriter``."""
        row, lost = masked_row(record, options.taxonomy, options.key)
        entries += (LossEntry(record_id=record.id, value=value, reason=reason) for value, reason in lost)
        return row


def masked_row(record: Record, taxonomy: Taxonomy, key: bytes = b"") -> tuple[Json, list[tuple[str, str]]]:
    """Return the row of *record*, and (value, reason) for each loss. Without *key*, anybody can compute the surrogates."""
    values = [span.text_in(record.context) for span in record.spans]
    typed = numbered_placeholders(record)
    kept = [None if span.relevance == "high" else placeholder for span, placeholder in zip(record.spans, typed, strict=True)]
    judged = not record.spans or any(span.relevance for span in record.spans)
    lost = [(value, LEFT_IN_QUESTION) for value in _left_in_question(record.question, values)]
    row: Json = {
        "id": record.id,
        "locale": record.locale,
        "question": record.question,
        "text": record.context,
        "spans": _spans(record),
        "masked": masked_variant(record, [MASK] * len(values)),
        "typed": masked_variant(record, typed),
        "relevance_aware": masked_variant(record, kept) if judged else None,
        "surrogates": masked_variant(record, _surrogates(record, values, typed, lost, partial(_redrawn, record, taxonomy, key))),
    }
    return row, lost


def numbered_placeholders(record: Record) -> list[str]:
    """Return "[NAME_1]" … by span; the numbers of a type are in the order of its values."""
    numbers: dict[str, dict[str, int]] = {}
    found = []
    for span in record.spans:
        label = placeholder_label(span.entity_type)
        known = numbers.setdefault(label, {})
        found.append(f"[{label}_{known.setdefault(span.text_in(record.context), len(known) + 1)}]")
    return found


def placeholder_label(name: str) -> str:
    """Return the name of a type as placeholders have it: "SEXUAL_ORIENTATION"."""
    return _NO_NAME.sub("_", name).upper()


def _surrogates(record: Record, values: Sequence[str], typed: Sequence[str], lost: list[tuple[str, str]], redrawn: _Redraw) -> list[str]:
    """Return the surrogate of each span. The seeds of *redrawn* are of the key, contrast group and value, so the question plays no part."""
    from piiloom.pii_values.redrawing import AfterArticle  # noqa: PLC0415 - loads the lists of values

    drawn: dict[tuple[str, str], str] = {}
    taken = _TakenValues(record.context)
    for span, value, placeholder in zip(record.spans, values, typed, strict=True):
        key = (span.entity_type, value)
        if key in drawn:
            continue
        before = record.context[max(0, span.start - _ARTICLE_LENGTH) : span.start]
        new = redrawn(span, value, AfterArticle(before, record.locale, taken))
        if new is None:
            new = redrawn(span, value, taken)
            lost.append((value, NOT_REDRAWN if new is None else WRONG_ARTICLE))
        drawn[key] = placeholder if new is None else new
        taken.add(drawn[key])
    return [drawn[span.entity_type, value] for span, value in zip(record.spans, values, strict=True)]


def _redrawn(record: Record, taxonomy: Taxonomy, key: bytes, span: Span, value: str, avoid: Container[str]) -> str | None:
    from piiloom.pii_values.redrawing import redraw  # noqa: PLC0415 - loads the lists of values

    known = ("surrogate of a masked text", record.contrast_group or record.id, span.entity_type, value)
    rng = derive_rng(*known, *([key.hex()] if key else []))
    return redraw(span.entity_type, span.subtype, value, locale=record.locale, rng=rng, taxonomy=taxonomy, avoid=avoid)


class _TakenValues(set[str]):
    """What a surrogate may not be: one of another value, or anything that the context says already."""

    def __init__(self, context: str) -> None:
        super().__init__()
        self._context = context

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and (super().__contains__(value) or value in self._context)


def masked_variant(record: Record, replacements: Sequence[str | None]) -> Json:
    """Return text, question and spans of *record* with *replacements* in the place of its spans; None keeps a value."""
    changed = with_span_values(record, replacements)
    by_value: dict[str, str] = {}
    for span, new in zip(record.spans, replacements, strict=True):
        value = span.text_in(record.context)
        by_value.setdefault(value, value if new is None else new)
    return {"text": changed.context, "question": _replaced(record.question, by_value), "spans": _spans(changed)}


def _spans(record: Record) -> list[Json]:
    return [
        {
            "start": span.start,
            "end": span.end,
            "text": span.text_in(record.context),
            "type": span.entity_type,
            "relevance": span.relevance,
        }
        for span in record.spans
    ]


def _replaced(question: str | None, by_value: Mapping[str, str]) -> str | None:
    """Return *question* with the values that stand in it as whole words replaced, in one pass, longer ones first."""
    told = [value for value in by_value if value in question] if question else []
    if not question or not told:
        return question
    longest_first = sorted(told, key=lambda value: (-len(value), value))

    def other(found: re.Match[str]) -> str:
        return by_value[found.group()] if stands_alone(question, *found.span()) else found.group()

    return re.sub("|".join(map(re.escape, longest_first)), other, question)


def _left_in_question(question: str | None, values: Sequence[str]) -> list[str]:
    """Return the values that *question* still holds, in any case, where ``_replaced`` leaves them."""
    distinct = dict.fromkeys(value for value in values if value.strip())
    rest = (_replaced(question, dict.fromkeys(distinct, "\n")) or "").casefold()
    return [value for value in distinct if value.casefold() in rest]
