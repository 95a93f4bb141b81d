"""Accepting and refusing does the same in the page as on the server."""

from __future__ import annotations

from document_making import make_document, make_operation
from suggestion_stories import make_decision, make_suggestions
from test_documents_in_the_browser import page  # noqa: F401 - a fixture

from piiloom.annotation_app.documents.document import Refusal, State, parse_operation
from piiloom.annotation_app.documents.history import apply, is_blank
from piiloom.annotation_app.sync.editor_data import suggestions_data
from piiloom.foundation.seeding import derive_rng
from piiloom.taxonomy.entity_types import shipped_taxonomy


def test_random_decisions(page):  # noqa: F811 - the fixture
    cases, expected = [], []
    for number in range(120):
        rng = derive_rng("suggestions in the browser", number)
        base = make_document(rng)
        suggestions = make_suggestions(rng, base.context)
        state = State(document=base)
        operations, trace = [], []
        for _ in range(6):
            # The page moves no suggestion itself: it shows none until the server has said where they are.
            operation = make_decision(rng, state, suggestions) if rng.random() < 0.6 else make_operation(rng, state.document)
            if operation.get("op") in {"text", "many"}:
                continue
            operations.append(operation)
            try:
                state = apply(state, parse_operation(operation), base, shipped_taxonomy().types, suggestions)
                trace.append(state.to_json())
            except Refusal as refusal:
                trace.append(refusal.code)
        rules = {
            "types": list(shipped_taxonomy().types),
            "questionNeeded": not is_blank(base.question),
            "suggestions": suggestions_data(suggestions, base, base),
        }
        cases.append({"state": State(document=base).to_json(), "operations": operations, "rules": rules})
        expected.append(trace)
    assert page.evaluate("(all) => all.map(run)", cases) == expected
    refused = {step for trace in expected for step in trace if isinstance(step, str)}
    assert refused >= {"already_decided", "no_suggestion", "overlap"}
    decided = [one["how"] for trace in expected for step in trace if not isinstance(step, str) for one in step.get("decided", [])]
    assert set(decided) == {"accepted", "changed", "refused"}
