"""Suggestions for tests: made by hand, by chance, or written as a detector writes them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from piiloom.annotation_app.documents.document import State
from piiloom.corpus.record import Record
from piiloom.corpus.store.judgements import Suggestion, suggestion_id

TYPES = ("age", "health", "name")


def suggestion(start: int, end: int, entity_type: str = "age", **fields: Any) -> Suggestion:
    """A suggestion of the detector "patterns" unless told otherwise."""
    detector = fields.get("detector", "patterns")
    given = {"score": 0.8, "detector": detector, "run_id": "run", "record_id": "r1", "record_order": 1, "revision": 0} | fields
    name = suggestion_id(given["record_order"], start, end, entity_type, detector)
    return Suggestion(id=name, start=start, end=end, entity_type=entity_type, **given)


def take(*suggestions: Suggestion, relevance: str | None = None, **changed: Any) -> dict[str, Any]:
    """The operation that accepts *suggestions* as one span."""
    first = suggestions[0]
    span = {"start": first.start, "end": first.end, "type": first.entity_type, "relevance": relevance} | changed
    return {"op": "take", "taken": [{"suggestions": [one.id for one in suggestions], **span}]}


def refuse(*suggestions: Suggestion) -> dict[str, Any]:
    """The operation that refuses *suggestions*."""
    return {"op": "refuse", "suggestions": [one.id for one in suggestions]}


def make_suggestions(rng: random.Random, text: str) -> list[Suggestion]:
    """Up to six suggestions, which may overlap; two detectors may agree."""
    found = []
    for _ in range(rng.randint(0, 6)):
        start = rng.randint(0, max(0, len(text) - 1))
        end = min(len(text), start + rng.choice([1, 2, 5]))
        if start < end:
            relevance = rng.choice([None, None, "high", "low"])
            detector = rng.choice(["patterns", "probe"])
            subtype = rng.choice([None, "kind"])
            found.append(suggestion(start, end, rng.choice(TYPES), relevance=relevance, detector=detector, subtype=subtype))
    return list({one.id: one for one in found}.values())


def make_decision(rng: random.Random, state: State, suggestions: Sequence[Suggestion]) -> dict[str, Any]:
    """An operation on suggestions, now and then one that is refused."""
    names = [one.id for one in suggestions] + ["none"]
    if rng.random() < 0.3:
        return {"op": "refuse", "suggestions": rng.choices(names, k=rng.choice([1, 1, 2]))}
    taken = []
    for _ in range(rng.choice([1, 1, 2])):
        first = rng.choice(suggestions) if suggestions else suggestion(0, 1)
        shift = rng.choice([0, 0, 0, 1])
        span = {"start": first.start + shift, "end": first.end + shift, "type": rng.choice([first.entity_type] * 3 + ["belief"])}
        alike = [one.id for one in suggestions if one.start == first.start and one.end == first.end] or [first.id]
        taken.append({"suggestions": alike[: rng.choice([1, 2])], **span, "relevance": rng.choice([None, "high", "low"])})
    return {"op": "take", "taken": taken}


def native_rows(path: Path, records: Sequence[Record], found: dict[str, Sequence[tuple[Any, ...]]], detector: str = "patterns") -> Path:
    """Write, as ``piiloom detect`` does, what a detector found in *records*: (start, end, type, score) by record id."""
    rows = []
    for record in records:
        spans = [
            {
                "start": start,
                "end": end,
                "text": record.context[start:end],
                "type": kind,
                "relevance": None,
                "id": f"s{number}",
                "score": score,
                "detector": detector,
            }
            for number, (start, end, kind, score) in enumerate(found.get(record.id, ()), start=1)
        ]
        row = {"id": record.id, "locale": record.locale, "context": record.context, "question": record.question, "spans": spans}
        rows.append(json.dumps({**row, "meta": {"source": {"file": "f"}}}, ensure_ascii=False))
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path
