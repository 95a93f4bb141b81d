"""What stores hold by now is read and written byte for byte; ``vectors/stored.json`` says where it comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

from piiloom.annotation_app.documents.document import (
    EditedDocument,
    Operation,
    RefuseSuggestions,
    State,
    TakeSuggestions,
    operation_to_json,
    parse_operation,
)
from piiloom.annotation_app.documents.history import EditHistory, replayed_history
from piiloom.corpus.store.annotation_events import AnnotationEvent
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import case_by_case

STORED = json.loads((Path(__file__).parent / "vectors" / "stored.json").read_text(encoding="utf-8"))
BASE = EditedDocument.from_json(json.loads(STORED["base"]))


def test_the_sample_has_every_operation() -> None:
    operations = [json.loads(entry)["operation"] for entry in STORED["events"]]
    later = {TakeSuggestions, RefuseSuggestions}  # younger than the sample; test_suggestions_decided.py has them
    assert {type(parse_operation(one)) for one in operations} == set(get_args(Operation)) - later


@case_by_case("entry", STORED["events"])
def test_operations_are_read_and_written_as_they_stand(entry: str) -> None:
    operation = json.loads(entry)["operation"]
    assert json.dumps(operation_to_json(parse_operation(operation))) == json.dumps(operation)


def test_the_same_operations_give_the_same_events() -> None:
    history = EditHistory(BASE)
    for number, entry in enumerate(STORED["events"], start=1):
        operation = json.loads(entry)["operation"]
        change = history.do(parse_operation(operation), shipped_taxonomy().types)
        history.name_event(history.version, number)
        made = {"operation": operation, "before": change.before, "after": change.after, "version": history.version}
        assert json.dumps(made) == entry


def test_stored_events_lead_to_the_stored_state() -> None:
    events = [
        AnnotationEvent(event=number, at="", actor="ada", kind="edit", record_id="r", entry=json.loads(entry))
        for number, entry in enumerate(STORED["events"], start=1)
    ]
    state = replayed_history(BASE, events).state
    assert json.dumps(BASE.to_json()) == STORED["base"]
    assert json.dumps(state.to_json()) == STORED["state"]
    assert State.from_json(json.loads(STORED["state"])) == state
