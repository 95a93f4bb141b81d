"""Operations on documents: what each does, why each is refused, and what holds whatever is done."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import get_args

import pytest
from document_making import make_document, make_edit, make_operation
from hypothesis import assume, given
from hypothesis import strategies as st

from piiloom.annotation_app.documents.document import (
    REFUSAL_SENTENCES,
    EditedDocument,
    EditText,
    Refusal,
    RefusalCode,
    SpanMark,
    State,
    document_of,
    next_revision,
    operation_to_json,
    parse_operation,
)
from piiloom.annotation_app.documents.history import apply
from piiloom.corpus.record import Record, Span
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import case_by_case

VECTORS = json.loads((Path(__file__).parent / "vectors" / "operations.json").read_text(encoding="utf-8"))
randoms = st.randoms(use_true_random=False)


@case_by_case("case", VECTORS["cases"])
def test_shared_cases(case):
    start = State.from_json(VECTORS["states"][case["state"]])
    state = start
    *first, last = case["do"]
    for operation in first:
        state = apply(state, parse_operation(operation), start.document, types=shipped_taxonomy().types)
    if "refused" in case:
        with pytest.raises(Refusal) as refusal:
            apply(state, parse_operation(last), start.document, types=shipped_taxonomy().types)
        assert refusal.value.code == case["refused"]
        return
    state = apply(state, parse_operation(last), start.document, types=shipped_taxonomy().types)
    document = state.document
    spans = [[mark.id, mark.start, mark.end, mark.doubt] for mark in document.marks]
    found = {"spans": spans, "question": document.question, "verdict": state.verdict}
    assert found == found | {key: case[key] for key in found if key in case}


def test_every_refusal_has_a_case_and_a_sentence():
    told_elsewhere = {"nothing_to_undo", "nothing_to_redo", "no_longer_fits", "already_decided"}
    codes = set(get_args(RefusalCode))
    assert codes == set(REFUSAL_SENTENCES) == {case["refused"] for case in VECTORS["cases"] if "refused" in case} | told_elsewhere
    assert str(Refusal("overlap")) == REFUSAL_SENTENCES["overlap"]


def test_a_new_type_drops_the_subtype_and_the_same_type_keeps_it():
    start = State.from_json(VECTORS["states"]["ann"])
    other = apply(start, parse_operation({"op": "type", "id": "s1", "type": "belief"}), start.document, types=shipped_taxonomy().types)
    same = apply(start, parse_operation({"op": "type", "id": "s1", "type": "age"}), start.document, types=shipped_taxonomy().types)
    assert (other.document.marks[0].subtype, other.document.marks[0].value_id) == (None, "v1")
    assert same == start


@given(randoms)
def test_operations_keep_documents_sound_and_survive_json(rng):
    base = make_document(rng)
    state = State(document=base)
    for _ in range(8):
        try:
            operation = parse_operation(make_operation(rng, state.document))
            state = apply(state, operation, base, types=shipped_taxonomy().types)  # a Document checks itself when it is made
        except Refusal:
            continue
        assert parse_operation(json.loads(json.dumps(operation_to_json(operation)))) == operation
        assert State.from_json(json.loads(json.dumps(state.to_json()))) == state
        assert state.verdict != "accepted" or not any(mark.doubt for mark in state.document.marks)


@given(randoms)
def test_a_text_edit_leaves_the_marking_of_all_other_text_as_it_was(rng):
    document = make_document(rng)
    edit = make_edit(rng, document) | {"field": "context"}
    edit["at"] = min(edit["at"], len(document.context))
    edit["removed"] = document.context[edit["at"] : edit["at"] + len(edit["removed"])]
    operation = parse_operation(edit)
    assert isinstance(operation, EditText)
    after = apply(State(document=document), operation, document, types=shipped_taxonomy().types).document
    start, end, new_end = operation.at, operation.at + len(operation.removed), operation.at + len(operation.inserted)
    before_ids, after_ids = _marking(document), _marking(after)
    whole = {mark.id for mark in document.marks if not (start <= mark.start and mark.end <= end)}
    # What was deleted with its surroundings may reach out of the edit on neither side, so nothing else can change.
    assert after.context[:start] == document.context[:start]
    assert after_ids[:start] == before_ids[:start]
    assert after_ids[new_end:] == before_ids[end:]
    assert whole <= {mark.id for mark in after.marks}
    for mark in after.marks:
        old = document.mark(mark.id)
        assert old is not None
        text, old_text = after.context[mark.start : mark.end], document.context[old.start : old.end]
        assert mark.doubt or text == old_text


def _marking(document: EditedDocument) -> list[str | None]:
    found: list[str | None] = [None] * len(document.context)
    for mark in document.marks:
        found[mark.start : mark.end] = [mark.id] * (mark.end - mark.start)
    return found


@given(randoms)
def test_an_edit_and_its_inverse_restore_the_text(rng):
    document = make_document(rng)
    operation = parse_operation(make_edit(rng, document))
    assume(isinstance(operation, EditText))
    try:
        there = apply(State(document=document), operation, document, types=shipped_taxonomy().types)
    except Refusal:
        return
    back = EditText(field=operation.field, at=operation.at, removed=operation.inserted, inserted=operation.removed)
    again = apply(there, back, document, types=shipped_taxonomy().types).document
    assert again.context == document.context
    assert (again.question or "") == (document.question or "")


def test_a_record_goes_in_and_comes_out_as_its_next_revision():
    span = Span(id="s", start=0, end=3, entity_type="age", relevance="low", subtype="k", value_id="v", subject="self")
    record = Record(id="r", context="Ann", question=None, spans=(span,), group_keys=("g",))
    out = next_revision(EditedDocument.from_json(document_of(record).to_json() | {"question": ""}), record)
    assert (out.spans, out.revision, out.question, out.group_keys) == ((span,), 1, None, ("g",))
    assert next_revision(EditedDocument(context="", question="Why?"), record).question == "Why?"


@case_by_case(
    ("marks", "told"),
    [
        ((SpanMark(id="a", start=0, end=0, entity_type="age"),), "empty"),
        ((SpanMark(id="a", start=0, end=9, entity_type="age"),), "outside"),
        ((SpanMark(id="a", start=0, end=2, entity_type="age"), SpanMark(id="b", start=1, end=3, entity_type="age")), "overlaps"),
        ((SpanMark(id="a", start=0, end=1, entity_type="age"), SpanMark(id="a", start=1, end=3, entity_type="age")), "twice"),
    ],
)
def test_unsound_documents_are_not_made(marks, told):
    with pytest.raises(DataError, match=told):
        EditedDocument(context="abcd", marks=marks)


@case_by_case(
    "broken",
    [{}, {"document": None}, {"document": {"context": "a", "question": None, "spans": [{}]}, "verdict": "open", "reason": "", "flag": ""}],
)
def test_an_unreadable_state_is_told(broken):
    with pytest.raises(DataError, match="cannot be read"):
        State.from_json(broken)
    whole = State(document=EditedDocument(context="")).to_json()
    with pytest.raises(DataError, match="cannot be read"):
        State.from_json(whole | {"verdict": "perhaps"})


def test_an_edit_of_a_long_record_makes_anew_only_the_spans_behind_it():
    rng = random.Random(5)
    context = " ".join(rng.choices(["word", "another", "👩‍🚀", "Ann"], k=20_000))
    step = len(context) // 200
    marks = tuple(SpanMark(id=f"s{i}", start=i * step, end=i * step + 4, entity_type="age") for i in range(200))
    base = EditedDocument(context=context, marks=marks)
    for at, behind in ((0, 200), (100 * step, 100), (len(context), 0)):
        after = apply(
            State(document=base), EditText(field="context", at=at, removed="", inserted="x"), base, types=shipped_taxonomy().types
        ).document.marks
        assert sum(mark is not old for mark, old in zip(after, marks, strict=True)) == behind
        assert [mark.start for mark in after] == [old.start + (old.start >= at) for old in marks]
