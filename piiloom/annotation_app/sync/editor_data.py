"""The data that the editor component gets about one record: the document, check results, and the labels' origin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from piiloom.annotation_app.checks.live_checks import check
from piiloom.annotation_app.documents.document import Document, document_of
from piiloom.annotation_app.documents.suggestions import placements
from piiloom.annotation_app.editor.palette import colours
from piiloom.annotation_app.sync.open_documents import DocumentView
from piiloom.corpus.store.suggestions import Suggestion
from piiloom.taxonomy.entity_types import Taxonomy

Mode = Literal["annotate", "practice", "adjudicate", "view"]
# Languages that are written from right to left (ISO 639).
_RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorOptions:
    """Editor data other than the record itself.

    ``acknowledged`` has the highest sequence number received, by client; ``notices`` are messages for the browser. ``position``
    holds either index and total (a fixed row of records), or done and left (one's own work on the list, see ``OwnStanding``). ``why``
    explains the labels; None if the person may not see it. ``suggestions`` are those of the record. ``commented`` has the
    number of comments that the person may see, by span id. ``intents`` has the number of the
    newest navigation request that was carried out, by client.
    """

    mode: Mode = "annotate"
    readonly: bool = False
    acknowledged: Mapping[str, int] = field(default_factory=dict)
    notices: Sequence[Mapping[str, Any]] = ()
    position: Mapping[str, int] | None = None
    why: Mapping[str, Any] | None = None
    suggestions: Sequence[Suggestion] = ()
    commented: Mapping[str, int] = field(default_factory=dict)
    intents: Mapping[str, int] = field(default_factory=dict)


def editor_data(opened: DocumentView, person: str, options: EditorOptions, taxonomy: Taxonomy) -> dict[str, Any]:
    """Build the JSON object that the editor component shows; offsets are code points."""
    record, document = opened.record, opened.state.document
    types = taxonomy.types
    pair = record.plan.pair if record.plan else None
    language = record.locale.partition("_")[0]
    return {
        "record": record.id,
        "person": person,
        "version": opened.version,
        "state": opened.state.to_json(),
        "acknowledged": dict(options.acknowledged),
        "intents_done": dict(options.intents),
        "notices": [dict(notice) for notice in options.notices],
        "types": [{"name": name, "colour": colour} for name, colour in colours(types).items()],
        "checks": [asdict(found) for found in check(document, record.locale, types, pair=pair)],
        "question_needed": bool(record.question and record.question.strip()),
        "can_undo": opened.can_undo,
        "can_redo": opened.can_redo,
        "readonly": options.readonly,
        "mode": options.mode,
        "position": dict(options.position) if options.position else None,
        "suggestions": suggestions_data(options.suggestions, document_of(record), document),
        "commented": dict(options.commented),
        "why": dict(options.why) if options.why is not None else None,
        "locale": record.locale,
        "direction": "rtl" if language in _RIGHT_TO_LEFT else "auto",
    }


def suggestions_data(suggestions: Sequence[Suggestion], base: Document, document: Document) -> list[dict[str, Any]]:
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
