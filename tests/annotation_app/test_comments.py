"""Comments on spans: what they keep, who sees them, and that they change nothing."""

from __future__ import annotations

import pytest
from sync_stories import record

from piiloom.annotation_app.event_log import Comments, EventLog
from piiloom.annotation_app.sync.service import DocumentService
from piiloom.corpus.store.annotation_events import load_documents
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError
from tests.longer import case_by_case


def test_a_comment_keeps_what_its_span_was(shared: SharedStore, service: DocumentService) -> None:
    comments, name = Comments(shared, EventLog(shared)), record(1).id
    state = service.open("ana", name).state.to_json()["document"]
    span = state["spans"][0]
    words = state["context"][span["start"] : span["end"]]
    comments.add("ana", name, "  Is it hers? <b> ", state, span["id"])
    comments.add("ben", name, "A dull one", state)
    found = comments.on(name)
    assert [(one.author, one.text, one.span_id, one.words, one.entity_type) for one in found] == [
        ("ana", "Is it hers? <b>", span["id"], words, span["type"]),
        ("ben", "A dull one", "", "", ""),
    ]
    assert comments.on(name, "ben") == found[1:]
    assert comments.on(record(2).id) == []
    with shared.reading() as store:
        assert load_documents(store) == []  # nobody's document was begun by it


@case_by_case(("text", "span", "said"), [(" ", None, "some words"), ("a" * 2001, None, "some words"), ("x", "gone", "not there")])
def test_what_is_no_comment_is_refused(shared: SharedStore, service: DocumentService, text: str, span: str | None, said: str) -> None:
    comments, name = Comments(shared, EventLog(shared)), record(1).id
    document = service.open("ana", name).state.to_json()["document"]
    with pytest.raises(UsageError, match=said):
        comments.add("ana", name, text, document, span)
    with pytest.raises(UsageError, match="not in the work list"):
        comments.add("ana", "r-none", "x", document)
    assert comments.on(name) == []
