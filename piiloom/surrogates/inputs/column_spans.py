"""Spans in a column of a table: a list of objects, or (as older versions of Hugging Face's ``datasets`` store it) an object of lists."""

from __future__ import annotations

from typing import Any

from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.given_spans import GivenSpan, bare_span, values_of
from piiloom.surrogates.offset_map import OffsetMap


def span_items(value: Any) -> Any:
    """Return the spans in *value* as a list of objects, or *value* itself if it is neither form, or its lists are not equally long."""
    if isinstance(value, dict) and value and all(isinstance(one, list) for one in value.values()):
        if len({len(one) for one in value.values()}) > 1:
            return value
        return [dict(zip(value, items, strict=True)) for items in zip(*value.values(), strict=True)]
    return value


def moved_spans(value: Any, text: str, replaced: Replaced) -> Any:
    """Return *value*, the spans of *text*, with the offsets and words of the new text, in the form that it has."""
    moves = OffsetMap(place[:4] for place in replaced.placed)
    items = [_moved(item, text, replaced.text, moves) for item in span_items(value)]
    return {key: [item[key] for item in items] for key in value} if isinstance(value, dict) else items


def bare_spans(value: Any, text: str) -> list[Any]:
    """Return *value*, the spans of *text*, without their offsets and words."""
    items = span_items(value)
    return [bare_span(item, text) for item in items] if isinstance(items, list) else []


def _moved(item: Any, text: str, new_text: str, moves: OffsetMap) -> Any:
    span = GivenSpan.of(item)
    if span is None:
        return item
    start, end = moves.to_output(span.start), moves.to_output(span.end, end=True)
    told = {span.start_at: start, span.end_at: end}
    new = {
        key: told[key] if key in told else new_text[start:end] if span.tells_words(key, one, text) else one
        for key, one in values_of(item).items()
    }
    return new if isinstance(item, dict) else list(new.values())
