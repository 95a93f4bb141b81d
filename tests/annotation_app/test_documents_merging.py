"""Merging, comparing and masking documents."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from document_making import make_content, make_document, make_text
from hypothesis import given
from hypothesis import strategies as st

from piiloom.annotation_app.documents.document import EditedDocument, Refusal, SpanMark, State, parse_operation
from piiloom.annotation_app.documents.history import apply
from piiloom.annotation_app.documents.merging import (
    Conflict,
    common_edges,
    differences_between,
    edited,
    edits_between,
    merge_documents,
    paired,
)
from piiloom.taxonomy.entity_types import shipped_taxonomy

randoms = st.randoms(use_true_random=False)
BASE = EditedDocument(
    context="Ann is 34 and lives in Bern.",
    question="Who?",
    marks=(
        SpanMark(id="s1", start=0, end=3, entity_type="age", relevance="high"),
        SpanMark(id="s2", start=7, end=9, entity_type="age", relevance="low"),
    ),
)


def changed(document, *operations):
    state = State(document=document)
    for operation in operations:
        state = apply(state, parse_operation(operation), document, types=shipped_taxonomy().types)
    return state.document


def text(at, removed, inserted, field="context"):
    return {"op": "text", "field": field, "at": at, "removed": removed, "inserted": inserted}


def wandered(rng, document, steps=4):
    for _ in range(steps):
        try:
            document = apply(
                State(document=document), parse_operation(make_content(rng, document)), document, types=shipped_taxonomy().types
            ).document
        except Refusal:
            continue
    return document


@given(randoms)
def test_edits_lead_from_one_text_to_the_other(rng):
    a, b = make_text(rng), make_text(rng)
    edits = edits_between(a, b)
    assert edited(a, edits) == b
    assert all(one.end <= two.start for one, two in pairwise(edits))
    head, tail = common_edges(a, b)
    assert a[:head] == b[:head]
    assert a[len(a) - tail :] == b[len(b) - tail :]
    assert head + tail <= min(len(a), len(b))


@given(randoms)
def test_merging_with_a_side_that_did_nothing_gives_the_other_side(rng):
    base = make_document(rng)
    other = wandered(rng, base)
    assert merge_documents(base, other, base).document == other
    assert merge_documents(base, base, other).document == other
    assert merge_documents(base, other, other).document == other
    assert not merge_documents(base, base, other).conflicts
    assert not merge_documents(base, other, other).conflicts


@given(randoms)
def test_merging_always_gives_a_sound_document_and_ours_where_in_conflict(rng):
    base = make_document(rng)
    ours, theirs = wandered(rng, base), wandered(rng, base)
    merged = merge_documents(base, ours, theirs)  # a Document checks itself when it is made
    swapped = merge_documents(base, theirs, ours)
    assert bool(merged.conflicts) == bool(swapped.conflicts)
    if not merged.conflicts:
        assert merged.document.context == swapped.document.context
    for conflict in merged.conflicts:
        assert conflict.kind in {"context", "question", "span"}


def test_changes_in_different_places_are_both_kept():
    ours = changed(BASE, text(0, "Ann", "Maria"), {"op": "relevance", "id": "s2", "relevance": "high"})
    theirs = changed(
        BASE, text(23, "Bern", "Basel"), {"op": "type", "id": "s2", "type": "belief"}, text(3, "?", " is it?", field="question")
    )
    merged = merge_documents(BASE, ours, theirs)
    assert merged.conflicts == ()
    assert (merged.document.context, merged.document.question) == ("Maria is 34 and lives in Basel.", "Who is it?")
    assert [(m.start, m.end, m.entity_type, m.relevance, m.doubt) for m in merged.document.marks] == [
        (0, 5, "age", "high", True),
        (9, 11, "belief", "high", False),
    ]


def test_ours_stays_where_both_changed_the_same():
    ours = changed(BASE, text(7, "34", "35"), {"op": "type", "id": "s1", "type": "belief"}, text(0, "Who", "Why", field="question"))
    theirs = changed(BASE, text(7, "34", "forty"), {"op": "type", "id": "s1", "type": "health"}, text(0, "Who", "Which", field="question"))
    merged = merge_documents(BASE, ours, theirs)
    assert merged.document == ours
    assert merged.conflicts == (
        Conflict(kind="context", ours=(7, 9), theirs=(7, 12)),
        Conflict(kind="question"),
        Conflict(kind="span", span="s1", fields=("type",)),
    )


def test_removed_here_and_changed_there():
    ours = changed(BASE, {"op": "remove", "id": "s1"})
    theirs = changed(BASE, {"op": "relevance", "id": "s1", "relevance": "low"}, {"op": "remove", "id": "s2"})
    merged = merge_documents(BASE, ours, theirs)
    assert merged.conflicts == (Conflict(kind="span", span="s1", fields=("presence",)),)
    assert merged.document.marks == ()
    other = merge_documents(BASE, theirs, ours)
    assert [(m.id, m.relevance) for m in other.document.marks] == [("s1", "low")]


def test_new_or_moved_into_text_that_the_other_side_deleted():
    gone = changed(BASE, text(14, "lives in ", ""))
    added = changed(BASE, {"op": "add", "span": {"id": "u-1", "start": 14, "end": 19, "type": "age", "relevance": "low"}})
    moved = changed(BASE, {"op": "move", "id": "s2", "start": 14, "end": 19})
    for ours, theirs in ((gone, added), (added, gone)):
        assert merge_documents(BASE, ours, theirs).conflicts == (Conflict(kind="span", span="u-1", fields=("presence",)),)
    for ours, theirs in ((gone, moved), (moved, gone)):
        assert merge_documents(BASE, ours, theirs).conflicts == (Conflict(kind="span", span="s2", fields=("place",)),)
    assert merge_documents(BASE, gone, moved).document == gone


def test_moved_by_both():
    ours, theirs = (changed(BASE, {"op": "move", "id": "s2", "start": start, "end": 9}) for start in (5, 6))
    merged = merge_documents(BASE, ours, theirs)
    assert (merged.document, merged.conflicts) == (ours, (Conflict(kind="span", span="s2", fields=("place",)),))
    assert merge_documents(BASE, ours, ours).conflicts == ()


def test_the_same_id_given_to_two_spans():
    def add(relevance):
        return changed(BASE, {"op": "add", "span": {"id": "u", "start": 14, "end": 19, "type": "age", "relevance": relevance}})

    merged = merge_documents(BASE, add("low"), add("high"))
    assert (merged.document, merged.conflicts) == (add("low"), (Conflict(kind="span", span="u", fields=("relevance",)),))


def test_a_question_that_one_side_has_and_the_other_changed():
    none = replace(BASE, question=None)
    assert merge_documents(none, replace(BASE, question="Why?"), BASE).conflicts == (Conflict(kind="question"),)
    assert merge_documents(none, none, BASE).document == BASE


def test_two_new_spans_in_one_place_and_a_move_into_ours():
    def add(name, start, end):
        return {"op": "add", "span": {"id": name, "start": start, "end": end, "type": "age", "relevance": "low"}}

    ours, theirs = changed(BASE, add("u-1", 23, 27)), changed(BASE, add("u-2", 14, 27))
    merged = merge_documents(BASE, ours, theirs)
    assert merged.document == ours
    assert merged.conflicts == (Conflict(kind="span", span="u-2", fields=("place",)),)
    moved = merge_documents(BASE, changed(BASE, add("u-1", 4, 6)), changed(BASE, {"op": "move", "id": "s2", "start": 5, "end": 9}))
    assert [(m.id, m.start, m.end) for m in moved.document.marks] == [("s1", 0, 3), ("u-1", 4, 6), ("s2", 7, 9)]
    assert moved.conflicts == (Conflict(kind="span", span="s2", fields=("place",)),)


def test_moved_here_while_the_text_was_edited_there():
    ours = changed(BASE, {"op": "move", "id": "s2", "start": 4, "end": 9})
    theirs = changed(BASE, text(8, "4", "5"), {"op": "confirm", "id": "s2"})
    mark = merge_documents(BASE, ours, theirs).document.marks[1]
    assert (mark.start, mark.end, mark.doubt) == (4, 9, True)


def test_differences_of_every_kind():
    left = changed(
        BASE,
        text(0, "Who", "Why", field="question"),
        {"op": "add", "span": {"id": "u-1", "start": 23, "end": 27, "type": "age", "relevance": "low"}},
    )
    right = changed(
        BASE,
        text(3, "", " Lee"),
        {"op": "add", "span": {"id": "u-9", "start": 18, "end": 23, "type": "age", "relevance": "low"}},
        {"op": "move", "id": "s2", "start": 8, "end": 13},
        {"op": "type", "id": "s2", "type": "belief"},
        {"op": "relevance", "id": "s2", "relevance": "high"},
    )
    found = [(d.kind, d.left and d.left.id, d.right and d.right.id) for d in differences_between(left, right)]
    assert found == [
        ("text", None, None),
        ("question", None, None),
        ("boundary", "s2", "s2"),
        ("type", "s2", "s2"),
        ("relevance", "s2", "s2"),
        ("only_right", None, "u-9"),
        ("only_left", "u-1", None),
    ]
    first = differences_between(left, right)[0]
    assert (first.left_range, first.right_range) == ((4, 4), (4, 8))


def test_pairs_go_by_place_before_id():
    def of(*marks):
        return EditedDocument(
            context="abcdef", marks=tuple(SpanMark(id=i, start=start, end=end, entity_type="age") for i, start, end in marks)
        )

    left, right = of(("a", 0, 2), ("b", 3, 5)), of(("x", 0, 2), ("a", 3, 6))
    assert [(one and one.id, two and two.id, same) for one, two, same in paired(left, right)] == [("a", "x", True), ("b", "a", False)]


def test_no_question_differs_from_an_empty_one():
    assert [d.kind for d in differences_between(replace(BASE, question=None), replace(BASE, question=""))] == ["question"]


@given(randoms)
def test_a_document_has_no_difference_from_itself_and_each_span_is_paired_once(rng):
    a, b = make_document(rng), make_document(rng)
    assert differences_between(a, a) == []
    pairs = paired(a, b)
    assert sorted(left.id for left, _, _ in pairs if left) == sorted(mark.id for mark in a.marks)
    assert sorted(right.id for _, right, _ in pairs if right) == sorted(mark.id for mark in b.marks)
