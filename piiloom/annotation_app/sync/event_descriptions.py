"""Describe a record's events in plain words, for its history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from piiloom.annotation_app.sync.results import REFUSED, STALE
from piiloom.corpus.store.annotation_events import FOR_ANOTHER, AnnotationEvent

_SHORT = 40
_MOST = 3
_PLAIN = {
    "accept": "accepted",
    "reopen": "opened again",
    "unflag": "flag removed",
    "undo": "undone",
    "redo": "done again",
    "move": "ends moved",
    "type": "type",
    "relevance": "relevance",
    "remove": "span removed",
    "confirm": "span confirmed",
}
_NOT_DONE = {STALE: " (not done: the record was changed meanwhile)", REFUSED: " (not done)"}
_LEASED = "leased"


def described(event: AnnotationEvent) -> str:
    """Describe on one line what was done or tried. The line quotes user input: display it as text, not as HTML or Markdown."""
    if event.kind in _ABOUT_THE_RECORD:
        words = _ABOUT_THE_RECORD[event.kind](event.entry)
    else:
        operation = event.entry.get("operation")
        words = _operation(operation if isinstance(operation, Mapping) else {}, event)
    return " ".join(f"{words}{_NOT_DONE.get(event.kind, '')}".split())


def line_of(event: AnnotationEvent) -> str:
    """Return event number, time, actor and description on one line; display it as text, not as HTML or Markdown."""
    return f"{event.event} · {event.at[:19].replace('T', ' ')} · {event.actor} · {described(event)}"


def without_renewals(events: Iterable[AnnotationEvent]) -> list[AnnotationEvent]:
    """Return *events* (oldest first) without lease renewals: lease events of a person who already holds the record."""
    kept: list[AnnotationEvent] = []
    holds: dict[str, bool] = {}
    for event in events:
        if event.kind == _LEASED and holds.get(event.actor):
            continue
        if event.kind in {_LEASED, "released", "skipped"}:
            holds[str(event.entry.get("annotator", event.actor))] = event.kind == _LEASED
        kept.append(event)
    return kept


def _released(entry: Mapping[str, Any]) -> str:
    return f"took the record from {entry['annotator']}" if entry.get("annotator") else "gave the record back"


def _how(how: Mapping[str, Any]) -> str:
    return f"took the version of {how['whole']}" if "whole" in how else "chose span by span"


def _why(entry: Mapping[str, Any]) -> str:
    return _short(entry.get("reason") or "; ".join((entry.get("reasons") or {}).values()))


# Events that are not steps on a document: assignments, leases and decisions.
_ABOUT_THE_RECORD: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "assigned": lambda entry: f"assigned to {entry.get('annotator')}",
    _LEASED: lambda _: "took the record to work on it",
    "released": _released,
    "skipped": lambda _: "put the record off",
    "annotated": lambda _: "record finished for the first time",
    "agreed": lambda entry: f"those who annotated it agree: {', '.join(entry.get('annotators', []))}",
    "adjudicated": lambda entry: f"decided on the record: {_how(entry.get('how') or {})}",
    "validated": lambda entry: f"validated as revision {entry.get('revision')}",
    "rejected_record": lambda entry: f"record rejected: {_why(entry)}",
    "reopened": lambda entry: f"decision taken back: {_why(entry)}",
}


def _operation(operation: Mapping[str, Any], event: AnnotationEvent) -> str:
    name, entry = str(operation.get("op")), event.entry
    if name in _PLAIN:
        return f"{_PLAIN[name]}{_spans(operation.get('id'), entry)}"
    whose = f" of {event.owner}" if event.kind == FOR_ANOTHER else ""
    told_by = {
        "text": f"{operation.get('field')}: “{_short(operation.get('removed'))}” → “{_short(operation.get('inserted'))}”",
        "add": f"span added: {_span(operation.get('span'))}",
        "many": "several changes at once",
        "take": f"suggestions accepted: {_taken(entry)}",
        "refuse": f"suggestions refused: {len(operation.get('suggestions') or ())}",
        "reject": f"rejected: {_short(operation.get('reason'))}",
        "flag": f"flagged: {_short(operation.get('comment'))}",
        "revert": f"step {operation.get('event')}{whose} taken back",
    }
    return told_by.get(name, "something unknown")


def _spans(span_id: object, entry: Mapping[str, Any]) -> str:
    if not isinstance(span_id, str):
        return ""
    before, after = ((entry.get(side) or {}).get("spans", {}).get(span_id) for side in ("before", "after"))
    return f": {' → '.join(_span(span) for span in (before, after) if span)}" if before or after else ""


def _taken(entry: Mapping[str, Any]) -> str:
    after = entry.get("after") or {}
    decided = list((after.get("decided") or {}).values())
    changed = sum(one["how"] == "changed" for one in decided if one)
    spans = [_span(span) for span in (after.get("spans") or {}).values()]
    count = f"{len(decided)}, {changed} of them changed" if changed else str(len(decided))
    return f"{count} ({'; '.join(spans[:_MOST])}{'; …' if len(spans) > _MOST else ''})" if spans else count


def _span(span: object) -> str:
    if not isinstance(span, Mapping):
        return ""
    return f"{span.get('type')}, {span.get('relevance') or 'no'} relevance, {span.get('start')}–{span.get('end')}"


def _short(text: object) -> str:
    words = str(text or "")
    return words if len(words) <= _SHORT else f"{words[: _SHORT - 1]}…"
