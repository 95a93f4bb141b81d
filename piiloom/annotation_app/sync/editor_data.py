"""What the browser gets for the editor: scripts, style sheet and colors, the data of a record, and its events in plain words.

Scripts and styles are joined from the files of the editor's folder and served at one URL path. Streamlit sends a component's script again
with every change of its data. So that script is a short loader, which imports the editor from a route of ours. The path of that route
contains a hash of the content.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Literal

from piiloom.annotation_app.documents.document import EditedDocument, document_of
from piiloom.annotation_app.documents.history import placements
from piiloom.annotation_app.documents.live_checks import live_checks
from piiloom.annotation_app.sync.service import REFUSED, STALE, DocumentView
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import FOR_ANOTHER, AnnotationEvent
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import Judgement, Suggestion, load_judgements
from piiloom.foundation.yaml_files import data_folder
from piiloom.taxonomy.entity_types import Taxonomy

# In load order: top-level code may use earlier files only; the bodies of functions may use all files.
SCRIPTS = (
    "points",
    "operations",
    "suggestion_operations",
    "text_diff",
    "elements",
    "text_map",
    "words",
    "history",
    "outbox",
    "actions",
    "layout",
    "text_view",
    "highlights",
    "handles",
    "selecting",
    "finding",
    "touching",
    "span_list",
    "type_picker",
    "dialogs",
    "typing",
    "text_editing",
    "suggestions",
    "suggestions_view",
    "checks_view",
    "preview",
    "why",
    "keys",
    "without_record",
    "main",
    "page_keys",
    "page_connection",
    "page_clicks",
    "page_main",
)
STYLES = ("editor.css", "suggestions.css")


@cache
def script() -> str:
    """Return the whole editor as one JavaScript module, whose default export is ``mountEditor``."""
    folder = data_folder("annotation_app") / "editor" / "js"
    parts = [f"// {name}.js\n{(folder / f'{name}.js').read_text(encoding='utf-8')}" for name in SCRIPTS]
    return "\n".join(["'use strict';", *parts, "export default mountEditor;", ""])


@cache
def styles() -> str:
    """The editor's style sheet."""
    return "".join((data_folder("annotation_app") / "editor" / name).read_text(encoding="utf-8") for name in STYLES)


@cache
def module() -> str:
    """Return the module that is served: the script, plus exports of what pages do, and of the style sheet."""
    return f"{script()}export {{ mountPage }};\nexport const styles = {json.dumps(styles())};\n"


@cache
def module_address() -> str:
    """Return the URL path of ``module``."""
    return f"/editor/{sha256(module().encode()).hexdigest()[:20]}.js"


@cache
def loader(mount: str = "default") -> str:
    """Return the short script that Streamlit sends. It calls the export *mount*: ``default`` (the editor) or ``mountPage``."""
    text = (data_folder("annotation_app") / "editor" / "loader.js").read_text(encoding="utf-8")
    return text.replace("__ADDRESS__", module_address()).replace("__MOUNT__", mount)


# Ordered so that neighbors in a list differ most.
_COLOURS = (
    "#3b82c4",
    "#c46a1b",
    "#2e9e6b",
    "#b4459f",
    "#8a8f1f",
    "#6a5acd",
    "#c9485b",
    "#1f9aa8",
    "#9a6b3f",
    "#5f8f2f",
    "#d05a9a",
    "#4f6fb0",
    "#b58b00",
    "#7d4fa8",
    "#4a8c7f",
)
# For own types: between the hues above.
_FURTHER = ("#a8556b", "#3f8fae", "#9b5fc0", "#7f8a4a", "#c2603f", "#5c7fc9", "#3f9a4f", "#b06f8f", "#8b7a2f")


def colours(types: Iterable[str]) -> Mapping[str, str]:
    """Return a color for each of *types*, in order. The colors repeat if there are more types than colors.

    Own types follow the shipped ones, in the order in which the store got them, so that a type keeps its color.
    """
    ordered = (*_COLOURS, *_FURTHER)
    return {name: ordered[place % len(ordered)] for place, name in enumerate(types)}


def label_origin(store: Store, record: Record) -> dict[str, Any]:
    """Return what is known about the origin of *record*, as JSON values for the editor. Unknown values are None or empty.

    ``judges`` has the verdicts in the order of ``load_judgements``; ``disagreements`` counts those that went against the plan.
    """
    plan, made, source = record.plan, record.provenance, record.source
    said = [row.judgement for row in load_judgements(store, record_id=record.id)]
    return {
        "pair": list(plan.pair) if plan else None,
        "topic": plan.topic if plan else None,
        "subtopic": plan.subtopic if plan else None,
        "scenario": plan.scenario if plan else None,
        "rationale": plan.rationale if plan else None,
        "register": plan.register if plan else None,
        "cue_level": plan.cue_level if plan else None,
        "judges": [_judged(one) for one in said],
        "disagreements": sum(not one.agrees for one in said),
        "stage": made.stage if made else None,
        "provider": made.provider if made else None,
        "model": made.model if made else None,
        "templates": [{"name": name, "sha256": sha256} for name, sha256 in made.templates] if made else [],
        "source": {"file": source.file, "line": source.line, "id": source.id} if source else None,
        "revision": record.revision,
    }


def _judged(one: Judgement) -> dict[str, Any]:
    names = ("kind", "span_id", "value_id", "planned", "verdict", "score", "agrees", "reason", "provider", "model")
    return {name: getattr(one, name) for name in names}


EditorMode = Literal["annotate", "practice", "adjudicate", "view"]
# Languages that are written from right to left (ISO 639).
_RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur"})


def editor_data(
    opened: DocumentView,
    person: str,
    taxonomy: Taxonomy,
    *,
    mode: EditorMode = "annotate",
    readonly: bool = False,
    acknowledged: Mapping[str, int] = MappingProxyType({}),
    notices: Sequence[Mapping[str, Any]] = (),
    position: Mapping[str, int] | None = None,
    why: Mapping[str, Any] | None = None,
    suggestions: Sequence[Suggestion] = (),
    commented: Mapping[str, int] = MappingProxyType({}),
    intents: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Any]:
    """Build the JSON object that the editor component shows; offsets are code points.

    *acknowledged* has the highest sequence number received, by client; *notices* are messages for the browser. *position*
    holds either index and total (a fixed row of records), or done and left (one's own work on the list, see ``OwnStanding``). *why*
    explains the labels; None if the person may not see it. *suggestions* are those of the record. *commented* has the
    number of comments that the person may see, by span id. *intents* has the number of the
    newest navigation request that was carried out, by client.
    """
    record, document = opened.record, opened.state.document
    types = taxonomy.types
    pair = record.plan.pair if record.plan else None
    language = record.locale.partition("_")[0]
    return {
        "record": record.id,
        "person": person,
        "version": opened.version,
        "state": opened.state.to_json(),
        "acknowledged": dict(acknowledged),
        "intents_done": dict(intents),
        "notices": [dict(notice) for notice in notices],
        "types": [{"name": name, "colour": colour} for name, colour in colours(types).items()],
        "checks": [asdict(found) for found in live_checks(document, record.locale, types, pair=pair)],
        "question_needed": bool(record.question and record.question.strip()),
        "can_undo": opened.can_undo,
        "can_redo": opened.can_redo,
        "readonly": readonly,
        "mode": mode,
        "position": dict(position) if position else None,
        "suggestions": suggestions_data(suggestions, document_of(record), document),
        "commented": dict(commented),
        "why": dict(why) if why is not None else None,
        "locale": record.locale,
        "direction": "rtl" if language in _RIGHT_TO_LEFT else "auto",
    }


def suggestions_data(suggestions: Sequence[Suggestion], base: EditedDocument, document: EditedDocument) -> list[dict[str, Any]]:
    """Return *suggestions*, decided ones too, as the editor gets them: at their places in *document*, which began as *base*."""
    return [
        {
            "id": one.suggestion.id,
            "start": one.start,
            "end": one.end,
            "type": one.suggestion.entity_type,
            "relevance": one.suggestion.relevance,
            "subtype": one.suggestion.subtype,
            "score": one.suggestion.score,
            "detector": one.suggestion.detector,
            "found_by": one.suggestion.found_by,
            "model": one.suggestion.model,
            "made_at": one.suggestion.made_at,
            "withdrawn": one.withdrawn,
        }
        for one in (placements(suggestions, base, document) if suggestions else ())
    ]


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


def event_words(event: AnnotationEvent) -> str:
    """Describe on one line what was done or tried. The line quotes user input: display it as text, not as HTML or Markdown."""
    if event.kind in _ABOUT_THE_RECORD:
        words = _ABOUT_THE_RECORD[event.kind](event.entry)
    else:
        operation = event.entry.get("operation")
        words = _operation(operation if isinstance(operation, Mapping) else {}, event)
    return " ".join(f"{words}{_NOT_DONE.get(event.kind, '')}".split())


def line_of(event: AnnotationEvent) -> str:
    """Return event number, time, actor and description on one line; display it as text, not as HTML or Markdown."""
    return f"{event.event} · {event.at[:19].replace('T', ' ')} · {event.actor} · {event_words(event)}"


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
