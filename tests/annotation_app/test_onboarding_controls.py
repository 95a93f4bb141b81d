"""Planted errors: what they are, that they hide, and who finds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worklist_stories import WorkProject, composed

from piiloom.annotation_app.documents.document import EditedDocument, State, document_of
from piiloom.annotation_app.onboarding.controls import (
    ERROR_KINDS,
    PlantedKind,
    changed_spans,
    control_results,
    is_found,
    moved_boundaries,
    plant,
    plant_several,
    reference_in,
)
from piiloom.annotation_app.onboarding.exercises import feedback_on
from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.annotation_events import read_events
from piiloom.corpus.store.annotation_items import base_records, load_items
from piiloom.corpus.store.annotation_project import ControlRow, load_controls
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.records import add_records, iter_records
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.taxonomy.entity_types import shipped_taxonomy

KINDS_OF_REMARKS = {"boundary": "boundary", "dropped": "only_left", "type": "type", "relevance": "relevance"}
WORDS = st.lists(
    st.sampled_from(["Ann", "owes", "e\u0301t\u00e9", "👩‍🚀", "it’s", "34", "שלום", "to", "x-ray", ",", "."]), min_size=2, max_size=14
)


@st.composite
def good_records(draw: st.DrawFn) -> Record:
    """Words between single blanks or line ends, and spans over whole words."""
    words = draw(WORDS)
    places: list[tuple[int, int]] = []
    context = ""
    for word in words:
        context += draw(st.sampled_from([" ", "\r\n", "  "])) if context else ""
        places.append((len(context), len(context) + len(word)))
        context += word
    spans: list[Span] = []
    at = 0
    while at < len(words):
        length = draw(st.integers(0, 3))
        if length and at + length <= len(words):
            kind = draw(st.sampled_from(sorted(shipped_taxonomy().types)))
            start, end = places[at][0], places[at + length - 1][1]
            spans.append(Span(id=f"s{at}", start=start, end=end, entity_type=kind, relevance=draw(st.sampled_from(["high", "low", None]))))
        at += max(1, length)
    return Record(id="r1", context=context, question="?", spans=tuple(spans))


@settings(max_examples=60, deadline=None)
@given(record=good_records(), kind=st.sampled_from(ERROR_KINDS), seed=st.integers(0, 5))
def test_an_error_is_one_error_of_its_kind_and_of_nothing_else(record: Record, kind: PlantedKind, seed: int) -> None:
    planted = plant(record, kind, derive_rng(seed))
    assert plant(record, kind, derive_rng(seed)) == planted
    if planted is None:
        assert not record.spans or kind in {"boundary", "relevance"}
        return
    differences = feedback_on(document_of(record), document_of(planted.record)).remarks
    assert [remark.kind for remark in differences] == [KINDS_OF_REMARKS[kind]]
    row = ControlRow(record_id="c", kind=kind, source_id="r1", entry={"span": planted.span_id, "reference": document_of(record).to_json()})
    assert is_found(row, State(document=document_of(record), verdict="accepted"))
    assert not is_found(row, State(document=document_of(planted.record), verdict="accepted"))
    assert is_found(row, State(document=document_of(planted.record), verdict="rejected", reason="x"))
    assert changed_spans(document_of(record), document_of(planted.record), planted.span_id) == 0


@settings(max_examples=100, deadline=None)
@given(record=good_records(), count=st.integers(0, 4), seed=st.integers(0, 5))
def test_several_errors_sit_in_different_spans(record: Record, count: int, seed: int) -> None:
    wrong, planted = plant_several(record, count, derive_rng(seed))
    assert len(planted) == min(count, len(record.spans))  # any span can be dropped
    assert len({one.span_id for one in planted}) == len(planted)
    assert len(feedback_on(document_of(record), document_of(wrong)).remarks) >= len(planted)


def test_boundaries_move_by_whole_words_and_never_over_punctuation_or_a_neighbour() -> None:
    record = composed(1)
    places = {span.id: [record.context[a:b] for a, b in moved_boundaries(record, span)] for span in record.spans}
    assert places["s1"] == ["baker", "part-time", "a part-time baker", "part-time baker with"]
    assert places["s3"] == ["from Leeds"]


@pytest.fixture
def project() -> Iterator[WorkProject]:
    with Store.open(MEMORY) as store:
        yield WorkProject(store, [composed(n) for n in range(20)])


def test_controls_look_like_the_rest_and_are_the_same_for_the_same_seed(project: WorkProject) -> None:
    sources = [composed(n).id for n in range(12)]
    report = project.controls.plant_errors("boss", [*sources, "nowhere"])
    assert report.made == {"boundary": 3, "dropped": 3, "relevance": 3, "type": 3}
    assert report.missing == ("nowhere",)
    with project.shared.reading() as store:
        rows = load_controls(store)
        items = {item.record_id: item for item in load_items(store)}
        stored = {record.id: record for record in iter_records(store, status="control")}
        for row in rows:
            item, source = items[row.record_id], items[row.source_id]
            assert (item.role, item.status, item.wanted) == ("control", "generated", 1)
            alike = ("pair", "locale", "model", "provider", "stage", "words")
            assert [item.facts[name] for name in alike] == [source.facts[name] for name in alike]
            assert item.facts.keys() == source.facts.keys()
            assert len(row.record_id) == len(row.source_id)
            assert stored[row.record_id].provenance == composed(int(row.source_id[-6:])).provenance
        visible = read_events(store, record_ids=[row.record_id for row in rows])
        assert {(event.kind, event.entry["role"]) for event in visible} == {("pooled", "work")}
        assert {record.id for record in iter_records(store, status="imported")} == {composed(n).id for n in range(20)}
    again = project.controls.plant_errors("boss", sources)
    assert (again.made, sorted(again.known)) == ({}, sorted(sources))
    with Store.open(MEMORY) as second:
        other = WorkProject(second, [composed(n) for n in range(20)])
        other.controls.plant_errors("boss", list(reversed(sources)))
        assert [(row.record_id, row.entry) for row in load_controls(second)] == [(row.record_id, row.entry) for row in rows]
    project.assert_replay_equals_tables()


def test_records_without_spans_and_unknown_kinds_are_told(project: WorkProject) -> None:
    with project.shared.writing() as store:
        add_records(store, None, [(None, composed(90, spans=()))], status="imported")
    report = project.controls.plant_errors("boss", [composed(90).id, composed(1).id], ["relevance"])
    assert (report.unfit, report.made) == ((composed(90).id,), {"relevance": 1})
    for kinds in ((), ("leak",)):
        with pytest.raises(UsageError, match="not kinds of errors"):
            project.controls.plant_errors("boss", [composed(1).id], kinds)  # type: ignore[arg-type]


@pytest.mark.long
def test_controls_come_mixed_in_and_never_beside_their_source(project: WorkProject) -> None:
    sources = [composed(n).id for n in range(20)]
    project.controls.plant_errors("boss", sources)
    project.settings.change("boss", "control_share", 0.5)
    with project.shared.reading() as store:
        of = {row.record_id: row.source_id for row in load_controls(store)}
    given: list[str] = []
    while (record_id := project.next("ann")) is not None:
        given.append(record_id)
        project.finish("ann", record_id)
    controls = [name for name in given if name in of]
    assert 2 <= len(controls) <= 15
    assert given[-1] not in of or len(given) - len(controls) == 20
    for name in controls:
        before = given[: given.index(name)]
        assert of[name] not in before
        assert of[name] not in {of.get(other) for other in before}
    project.settings.change("boss", "control_share", 0.0)
    assert project.next("ben") is None
    project.assert_replay_equals_tables()


def test_several_people_may_have_one_control_at_once(project: WorkProject) -> None:
    project.controls.plant_errors("boss", [composed(1).id])
    project.settings.change("boss", "control_share", 0.5)
    project.settings.change("boss", "lease_limit", 100)
    with project.shared.reading() as store:
        control = load_controls(store)[0].record_id
    had: Counter[str] = Counter()
    for person in ("ann", "ben", "cid", "dot", "eve", "fay"):
        mine: list[str] = []
        for _ in range(3):
            mine += [found for found in [project.next(person, *mine)] if found]
        had.update(mine)
    assert had[control] > 1
    project.leases.may_edit("zoe", control)


def test_recall_is_counted_by_person_and_kind_with_wilson_intervals(project: WorkProject) -> None:
    project.controls.plant_errors("boss", [composed(n).id for n in range(8)])
    project.controls.add_gold("boss", [composed(n).id for n in range(8, 11)])
    with project.shared.reading() as store:
        rows = load_controls(store)
        bases = {name: document_of(r) for name, r in base_records(store, [row.record_id for row in rows]).items()}
    for row in rows:
        project.finish("ann", row.record_id, reference_in(row))
        project.finish("ben", row.record_id, bases[row.record_id])
        if row.kind == "type":
            project.finish("cid", row.record_id, bases[row.record_id], verdict="open")
    gold = [row for row in rows if row.kind == "gold"]
    project.finish("ann", gold[0].record_id, _with_relevance_flipped(bases[gold[0].record_id]))
    project.finish("ann", gold[1].record_id, verdict="rejected")
    ann, ben = control_results(project.shared)
    assert (ann.person, ann.found.part, ann.found.whole, ann.found.value) == ("ann", 8, 8, 1.0)
    assert {kind: (share.part, share.whole) for kind, share in ann.by_kind.items()} == dict.fromkeys(ERROR_KINDS, (2, 2))
    assert (ann.kept.part, ann.kept.whole, ann.other_changes) == (1, 3, 0)
    assert (ben.found.part, ben.found.whole, ben.kept.part) == (0, 8, 3)
    assert (ann.found.low, ann.found.high) == pytest.approx((0.6756, 1.0), abs=1e-4)
    type_share = ben.by_kind["type"]
    assert (type_share.low, type_share.high) == pytest.approx((0.0, 0.6576), abs=1e-4)
    assert project.controls.add_gold("boss", [composed(8).id]).known == (composed(8).id,)


def test_an_error_counts_as_mended_though_the_text_was_edited_before_it(project: WorkProject) -> None:
    project.controls.plant_errors("boss", [composed(1).id], ["relevance"])
    with project.shared.reading() as store:
        row = load_controls(store)[0]
    right = reference_in(row)
    moved = replace(right, context="Well. " + right.context, marks=tuple(replace(m, start=m.start + 6, end=m.end + 6) for m in right.marks))
    assert is_found(row, State(document=moved, verdict="accepted"))
    assert not is_found(row, State(document=replace(moved, marks=()), verdict="accepted"))


def _with_relevance_flipped(document: EditedDocument) -> EditedDocument:
    first = document.marks[0]
    return replace(document, marks=(replace(first, relevance="low" if first.relevance == "high" else "high"), *document.marks[1:]))
