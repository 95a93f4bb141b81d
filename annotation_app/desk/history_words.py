"""An event of a record in plain words, for its history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation_app.desk.deliveries import REFUSED, STALE
from corpus.store.annotation_events import AnnotationEvent

_SHORT = 40
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
_NOT_DONE = {STALE: " (not done: changed in another tab meanwhile)", REFUSED: " (not done)"}


def told(event: AnnotationEvent) -> str:
    """What was done or tried, on one line; it quotes what was typed, so it is to be shown as text."""
    operation = event.entry.get("operation")
    words = _operation(operation if isinstance(operation, Mapping) else {}, event.entry)
    return " ".join(f"{words}{_NOT_DONE.get(event.kind, '')}".split())


def _operation(operation: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    name = str(operation.get("op"))
    if name in _PLAIN:
        return f"{_PLAIN[name]}{_spans(operation.get('id'), entry)}"
    told_by = {
        "text": f"{operation.get('field')}: “{_short(operation.get('removed'))}” → “{_short(operation.get('inserted'))}”",
        "add": f"span added: {_span(operation.get('span'))}",
        "many": "several changes at once",
        "reject": f"rejected: {_short(operation.get('reason'))}",
        "flag": f"flagged: {_short(operation.get('comment'))}",
        "revert": f"step {operation.get('event')} taken back",
    }
    return told_by.get(name, "something unknown")


def _spans(span_id: object, entry: Mapping[str, Any]) -> str:
    if not isinstance(span_id, str):
        return ""
    before, after = ((entry.get(side) or {}).get("spans", {}).get(span_id) for side in ("before", "after"))
    return f": {' → '.join(_span(span) for span in (before, after) if span)}" if before or after else ""


def _span(span: object) -> str:
    if not isinstance(span, Mapping):
        return ""
    return f"{span.get('type')}, {span.get('relevance') or 'no'} relevance, {span.get('start')}–{span.get('end')}"


def _short(text: object) -> str:
    words = str(text or "")
    return words if len(words) <= _SHORT else f"{words[: _SHORT - 1]}…"
