"""What the work list knows of a record: what lists filter and show, and the event that puts it there."""

from __future__ import annotations

from typing import Any

from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import NewEvent
from piiloom.corpus.store.annotation_items import Item
from piiloom.foundation.words import count_words


def pair_of(record: Record) -> tuple[str, str] | None:
    """The pair that the record was planned for, or the types of its high-relevance spans if these are two; sorted."""
    types = sorted(record.plan.pair if record.plan else {span.entity_type for span in record.spans if span.relevance == "high"})
    return (types[0], types[1]) if len(types) == 2 else None


def facts_of(record: Record) -> dict[str, Any]:
    """What lists filter and show: pair ("age+health"), types, locale, model, provider, stage, words, spans."""
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
    """The event that puts *item* into the list, or back to its beginning there."""
    entry = {
        "record_order": item.record_order,
        "role": item.role,
        "wanted": item.wanted,
        "priority": item.priority,
        "reasons": list(item.reasons),
        "facts": dict(item.facts),
    }
    return NewEvent(actor=actor, kind="pooled", record_id=item.record_id, entry=entry)
