"""What a span of ours holds besides its place and label, kept aside in a file whose own spans have no room for it.

A tool may move, add and remove spans between writing and reading, so the parts are joined by place and label: what was kept
aside is used only for a span that still stands where it was written, with the label that was written for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.native_rows import objects_in, row_of
from piiloom.corpus.record import Record, Span


def kept_aside(record: Record) -> Json:
    """Return the native row of *record* without its texts: id, locale and meta, and spans by place."""
    row = row_of(record)
    spans = [{key: value for key, value in span.items() if key != "text"} for span in objects_in(row["spans"])]
    return {"id": row["id"], "locale": row["locale"], "spans": spans, "meta": row["meta"]}


def rejoined(found: Iterable[Json], aside: object, label_of: Callable[[Json], str]) -> list[Json]:
    """Return the spans *found* in a file (start, end, text, type), completed by those of *aside* if these are what was written.

    *label_of* returns the label that is written for a span kept aside.
    """
    kept = {(one.get("start"), one.get("end")): one for one in objects_in(aside)}
    spans: list[Json] = []
    for span in found:
        ours = kept.get((span["start"], span["end"]))
        spans.append({**ours, "text": span["text"]} if ours is not None and label_of(ours) == span["type"] else span)
    return with_all_ids(spans)


def details_of(span: Span) -> Json:
    """Return subtype (with the type it belongs to), value and subject of *span*, as far as it has them."""
    told = {"type": span.entity_type, "subtype": span.subtype} if span.subtype is not None else {}
    return told | {key: value for key in ("value_id", "subject") if (value := getattr(span, key)) is not None}


def with_details(span: Json, details: object) -> Json:
    """Return *span* with the *details* that ``details_of`` returned for it; no subtype if the type is another one now."""
    told = details if isinstance(details, dict) else {}
    keys = ("subtype", "value_id", "subject") if told.get("type") == span["type"] else ("value_id", "subject")
    return {**span, **{key: told[key] for key in keys if key in told}}


def with_all_ids(spans: Sequence[Json]) -> list[Json]:
    """Return *spans*, with ids for those without one if others have one (someone added spans to a record of ours)."""
    taken = {span["id"] for span in spans if span.get("id") is not None}
    if not taken:
        return list(spans)
    free = (name for number in range(1, len(spans) + len(taken) + 1) if (name := f"new{number}") not in taken)
    return [span if span.get("id") is not None else {**span, "id": next(free)} for span in spans]
