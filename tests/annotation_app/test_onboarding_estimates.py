"""Capture and recapture: hand-computed cases, what simulations say, and which errors count as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worklist_stories import WorkProject, composed

from piiloom.annotation_app.documents.document import EditedDocument, SpanMark, document_of
from piiloom.annotation_app.figures.agreement import chao, chapman, errors_found, estimate_remaining
from piiloom.annotation_app.figures.intervals import wilson
from piiloom.annotation_app.figures.spans import FinishedRecord, FinishedRecords, FinishedVersion, carried, compared_spans
from piiloom.corpus.store.annotation_events import BaseRow
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.foundation.seeding import derive_rng
from tests.longer import case_by_case

BASE = document_of(composed(1))


def marks(**changes: dict[str, object] | None) -> EditedDocument:
    """The base with spans changed, or (None) removed, by id."""
    kept = (m if m.id not in changes else None if changes[m.id] is None else replace(m, **changes[m.id]) for m in BASE.marks)  # type: ignore[arg-type]
    return replace(BASE, marks=tuple(m for m in kept if m is not None))


def test_wilson_equals_the_published_form() -> None:
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 4)[0] == 0.0
    assert wilson(4, 4)[1] == 1.0


def test_chapman_by_hand() -> None:
    # 21 * 16 / 11 - 1 = 29.545…; variance 21 * 16 * 10 * 5 / (121 * 12) = 11.570…
    estimate = chapman(20, 15, 10)
    assert estimate.found == 25
    assert estimate.total == pytest.approx(29.5454545)
    assert estimate.left == pytest.approx(4.5454545)
    # C = exp(1.96 sqrt(ln(1 + 11.570 / 4.5454²))) = 3.6951…
    assert (estimate.low, estimate.high) == pytest.approx((25 + 4.5454545 / 3.6951, 25 + 4.5454545 * 3.6951), abs=2e-3)


def test_chao_by_hand() -> None:
    # f1 = 4, f2 = 2, k = 3: 7 + 2/3 * 4 * 3 / (2 * 3) = 8.333…
    estimate = chao([1, 1, 1, 1, 2, 2, 3], 3)
    assert (estimate.found, estimate.total) == (7, pytest.approx(8.3333333))
    assert estimate.found < estimate.low < estimate.total < estimate.high


def test_where_all_was_found_by_all_nothing_is_left() -> None:
    assert (chapman(9, 9, 9).left, chapman(9, 9, 9).high) == (0, 9)
    assert (chao([3, 3, 3], 3).left, chao([], 2).total) == (0, 0)
    assert chapman(0, 0, 0).total == 0


@case_by_case("counts", [(3, 3, 4), (1, 5, -1)])
def test_impossible_counts_are_refused(counts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="both"):
        chapman(*counts)
    with pytest.raises(ValueError, match="one person at least"):
        chao([0], 2)
    with pytest.raises(ValueError, match="two people"):
        chao([1], 1)


@given(first=st.integers(0, 200), second=st.integers(0, 200), share=st.floats(0, 1))
def test_an_estimate_is_never_below_what_was_found(first: int, second: int, share: float) -> None:
    both = int(share * min(first, second))
    estimate = chapman(first, second, both)
    assert first + second - both == estimate.found <= estimate.low <= estimate.total <= estimate.high


def test_the_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    truth, hits, bound, rounds = 120, 0, 0.0, 300
    for number in range(rounds):
        rng = derive_rng("capture", number)
        caught = [[rng.random() < share for share in (0.6, 0.5, 0.4)] for _ in range(truth)]
        first, second = sum(c[0] for c in caught), sum(c[1] for c in caught)
        estimate = chapman(first, second, sum(c[0] and c[1] for c in caught))
        hits += estimate.low <= truth <= estimate.high
        bound += chao([sum(c) for c in caught if any(c)], 3).total
    assert 0.9 <= hits / rounds <= 0.99
    assert 0.9 * truth <= bound / rounds <= 1.05 * truth


def reading(documents: Mapping[str, EditedDocument]) -> FinishedRecord:
    """What *documents* (by name) make of the base, as ``FinishedRecords`` has it."""
    base = BaseRow(
        record_id="r",
        record_order=1,
        pair=None,
        context_hash=0,
        question_hash=0,
        characters=len(BASE.context),
        stage=None,
        provider=None,
        model=None,
        templates=(),
    )
    versions = [
        FinishedVersion(
            annotator=name,
            verdict="accepted",
            changed_at="",
            spans=carried(compared_spans(document.marks), document.context, BASE.context),
            context_edited=document.context != BASE.context,
            question_edited=False,
        )
        for name, document in sorted(documents.items())
    ]
    return FinishedRecord(base=base, spans=compared_spans(BASE.marks), versions=tuple(versions))


def finders(*finished_records: FinishedRecord) -> list[list[str]]:
    """Who found each error."""
    errors = errors_found(finished_records)
    return sorted([name for name, has in zip(errors.people, row, strict=True) if has] for row in errors.found.tolist())


def test_two_corrections_of_one_thing_are_one_error() -> None:
    documents = {
        "ann": marks(s1={"start": 15}, s2={"relevance": "low"}, s3=None),
        "ben": marks(s1={"end": 14}, s2={"relevance": "low", "entity_type": "belief"}),
        "cid": BASE,
    }
    # The ends of s1 and the relevance of s2; that s3 is gone; the type of s2.
    assert finders(reading(documents)) == [["ann"], ["ann", "ben"], ["ann", "ben"], ["ben"]]
    one = errors_found([reading({"ann": BASE, "ben": BASE}), reading(documents), reading({"ann": marks(s1=None)})])
    assert (set(one.record.tolist()), one.looked.tolist()) == ({1}, [[True, True, False], [True, True, True]])


def test_spans_added_at_one_place_are_one_error_though_texts_were_edited() -> None:
    def added(start: int, end: int, document: EditedDocument = BASE) -> EditedDocument:
        mark = SpanMark(id=f"u-{start}", start=start, end=end, entity_type="datetime")
        kept = (*document.marks, mark)
        return replace(document, marks=tuple(sorted(kept, key=lambda one: one.start)))

    longer = replace(BASE, context="Oh! " + BASE.context, marks=tuple(replace(m, start=m.start + 4, end=m.end + 4) for m in BASE.marks))
    at = BASE.context.index("today")
    documents = {"ann": added(at, at + 5), "ben": added(at + 4, at + 9, longer), "cid": added(at - 7, at - 1)}
    assert finders(reading(documents)) == [["ann", "ben"], ["cid"]]
    assert finders(reading({"ann": added(0, 2, longer), "ben": longer})) == []  # a name in a text that somebody wrote mends nothing
    assert finders(reading(documents), reading(documents)) == [["ann", "ben"], ["ann", "ben"], ["cid"], ["cid"]]


def test_the_set_is_estimated_from_records_that_several_have_finished() -> None:
    with Store.open(MEMORY) as store:
        project = WorkProject(store, [composed(n) for n in range(8)], overlap=3)
        for number in range(6):
            name = composed(number).id
            base = project.base(name)
            wrong = {mark.id: mark for mark in base.marks}
            mended = replace(base, marks=tuple(replace(wrong[m], relevance="low") if m == "s2" else wrong[m] for m in wrong))
            project.finish("ann", name, mended)
            project.finish("ben", name, mended if number < 4 else base)
            project.finish("cid", name, verdict="rejected")
        project.finish("ann", composed(7).id)
        remaining = estimate_remaining(FinishedRecords().load(store))
        (pair,) = remaining.pairs
        assert (pair.people, pair.records, pair.estimate.found) == (("ann", "ben"), 6, 6)
        assert pair.estimate == chapman(6, 4, 4)
        assert remaining.lower_bounds == {2: chao([2, 2, 2, 2, 1, 1], 2)}


def test_an_empty_project_has_no_estimate() -> None:
    with Store.open(MEMORY) as store:
        remaining = estimate_remaining(FinishedRecords().load(store))
        assert (remaining.pairs, remaining.lower_bounds) == ((), {})
