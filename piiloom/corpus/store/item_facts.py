"""The facts that the work list keeps about a record, and the event that adds a record to the list."""

from __future__ import annotations

from typing import Any

from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import NewEvent
from piiloom.corpus.store.annotation_items import Item
from piiloom.foundation.words import count_words


def pair_of(record: Record) -> tuple[str, str] | None:
    """Return the planned pair of entity types, sorted. Without a plan: the types of high-relevance spans if exactly two, else None."""
    types = sorted(record.plan.pair if record.plan else {span.entity_type for span in record.spans if span.relevance == "high"})
    return (types[0], types[1]) if len(types) == 2 else None


def facts_of(record: Record) -> dict[str, Any]:
    """Return the facts that lists filter by and show: pair ("age+health"), types, locale, model, provider, stage, words, spans."""
    pair, made = pair_of(record), record.provenance
    return {
        "pair": "+".join(pair) if pair else None,
        "types": sorted({span.entity_type for span in record.spans}),
        "locale": record.locale,
        "model": made.model if made else None,
        "provider": made.provider if made else None,
        "stage": made.stage if made else None,
        "words": count_words(record.context),
        "spans": len(record.spans),
    }


def pooled(item: Item, actor: str) -> NewEvent:
    """Return the event that adds *item* to the work list, or resets it there."""
    entry = {
        "record_order": item.record_order,
        "role": item.role,
        "wanted": item.wanted,
        "priority": item.priority,
        "reasons": list(item.reasons),
        "facts": dict(item.facts),
    }
    return NewEvent(actor=actor, kind="pooled", record_id=item.record_id, entry=entry)
