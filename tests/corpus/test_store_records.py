"""Records in and out: exactly equal, in order, nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from piiloom.corpus.record import Provenance, Record, RecordPlan, SourceReference, Span
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records, count_records, iter_records
from piiloom.corpus.store.runs import create_run
from piiloom.foundation.errors import DataError
from tests.longer import mostly_long

MakeRecord = Callable[..., Record]

# Every character UTF-8 can hold, with those that break things made frequent.
AWKWARD = ["👩🏽‍🔬", "e\u0301", "שלום", "\u202eabc\u202c", "\r\n", "\u200b", "\ufeff", "\x00", "\u2028", "'", '"', "\\", "\uffff", " "]
TEXT = st.lists(st.one_of(st.sampled_from(AWKWARD), st.text(st.characters(codec="utf-8"), max_size=8)), max_size=8).map("".join)
MAYBE = st.none() | TEXT


@st.composite
def spans_in(draw: st.DrawFn, context: str) -> tuple[Span, ...]:
    cuts = sorted(draw(st.sets(st.integers(0, len(context)), max_size=8)))
    return tuple(
        Span(
            id=f"s{number}",
            start=start,
            end=end,
            entity_type=draw(st.sampled_from(["health", "sexual orientation"])),
            relevance=draw(st.sampled_from(["high", "low", None])),
            subtype=draw(MAYBE),
            value_id=draw(MAYBE),
            subject=draw(MAYBE),
        )
        for number, (start, end) in enumerate(zip(cuts[::2], cuts[1::2], strict=False))
    )


@st.composite
def records(draw: st.DrawFn) -> Record:
    context = draw(TEXT)
    plan = st.builds(RecordPlan, pair=st.tuples(TEXT, TEXT), topic=MAYBE, rationale=MAYBE, register=MAYBE)
    source = st.builds(SourceReference, file=TEXT, line=st.none() | st.integers(1, 10**9), id=MAYBE)
    pairs = st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple)
    seed = st.none() | st.integers(0, 2**70)
    provenance = st.builds(Provenance, stage=TEXT, model=MAYBE, templates=pairs, seed=seed, parents=st.tuples(TEXT))
    return Record(
        id=draw(TEXT),
        context=context,
        locale=draw(st.sampled_from(["en_US", "hi_IN"])),
        revision=draw(st.integers(0, 3)),
        question=draw(MAYBE),
        spans=draw(spans_in(context)),
        plan=draw(st.none() | plan),
        source=draw(st.none() | source),
        group_keys=draw(st.lists(TEXT, max_size=3).map(tuple)),
        provenance=draw(st.none() | provenance),
    )


@pytest.mark.long
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_records=st.lists(records(), max_size=4))
def test_any_record_comes_back_equal(store: Store, given_records: list[Record]) -> None:
    store.change("DELETE FROM records")
    assert add_records(store, "run", list(enumerate(given_records))) == len(given_records)
    assert list(iter_records(store)) == given_records


@pytest.mark.parametrize("text", mostly_long([*AWKWARD, "tail\x00", "", "a" * 300_000], quick={*AWKWARD[::4], "tail\x00", ""}))
def test_awkward_text_survives_the_disk(store_path: Path, text: str) -> None:
    record = Record(id=f"r{text[:3]}", context=text, question=text, group_keys=(text,))
    with Store.open(store_path) as store:
        add_records(store, None, [(None, record)])
    with Store.open(store_path) as store:
        assert list(iter_records(store)) == [record]
        assert list(iter_records(store, ids=[record.id])) == [record]


@pytest.mark.parametrize(
    ("field", "named"), [("id", ""), ("context", "the context"), ("question", "the question"), ("locale", "the locale")]
)
def test_lone_surrogates_are_refused_by_name(store: Store, make_record: MakeRecord, field: str, named: str) -> None:
    bad = make_record(2, spans=(), **{field: "half \ud83d"})
    with pytest.raises(DataError, match=f"{named} holds a lone surrogate") as caught:
        add_records(store, None, [(None, make_record(1)), (None, bad)])
    assert str(caught.value).isascii()
    assert count_records(store) == 0


def test_lone_surrogates_in_spans_and_json_are_refused(store: Store, make_record: MakeRecord) -> None:
    good = make_record(1)
    for bad in (
        replace(good, spans=(replace(good.spans[0], subject="\udfff"),)),
        replace(good, group_keys=("\udfff",)),
        replace(good, plan=RecordPlan(pair=("a", "b"), topic="\udfff")),
    ):
        with pytest.raises(DataError, match="lone surrogate"):
            add_records(store, "run", [(0, bad)])
    assert count_records(store) == 0


def test_order_is_by_run_and_plan_with_imports_last(store: Store, make_record: MakeRecord) -> None:
    add_records(store, None, [(None, make_record(90)), (None, make_record(80))])
    for name in ("zebra", "alpha"):
        create_run(store, run_id=name, provider="composer", model=None, seed=1, samples=9, config={}, config_digest="d")
    add_records(store, "alpha", [(0, make_record(10))])
    add_records(store, "zebra", [(5, make_record(5)), (2, make_record(2))])
    add_records(store, "zebra", [(3, make_record(3))])
    assert [int(record.id[-2:]) for record in iter_records(store)] == [2, 3, 5, 10, 90, 80]
    assert [int(record.id[-2:]) for record in iter_records(store, run_id="zebra")] == [2, 3, 5]


def test_nothing_is_there_twice(store: Store, make_record: MakeRecord) -> None:
    first = [(index, make_record(index)) for index in range(5)]
    assert add_records(store, "run", first) == 5
    other = make_record(99)
    assert add_records(store, "run", [(4, other), (5, make_record(5)), (5, other), (6, make_record(6))]) == 2
    assert [record.id for record in iter_records(store, run_id="run")] == [make_record(index).id for index in range(7)]
    assert add_records(store, "other run", first[:2]) == 2
    imported = [(None, make_record(1)), (None, make_record(2)), (None, make_record(1))]
    assert add_records(store, None, imported) == 2
    assert add_records(store, None, imported) == 0
    assert add_records(store, None, [(None, make_record(1, revision=1))]) == 1
    assert count_records(store) == 12


def test_selection_by_run_status_and_id(store: Store, make_record: MakeRecord) -> None:
    add_records(store, "a", [(index, make_record(index)) for index in range(4)])
    add_records(store, "a", [(7, make_record(7))], status="validated")
    add_records(store, "b", [(0, make_record(0))])
    assert count_records(store, run_id="a") == 5
    assert count_records(store, run_id="a", status="validated") == 1
    assert count_records(store, status="generated") == 5
    assert [record.id for record in iter_records(store, status="validated")] == [make_record(7).id]
    wanted = [make_record(3).id, make_record(1).id, "unknown"]
    assert [record.id for record in iter_records(store, run_id="a", ids=wanted)] == [make_record(1).id, make_record(3).id]
    assert list(iter_records(store, ids=[])) == []


def test_writing_while_reading_neither_disturbs_nor_shows(store: Store, make_record: MakeRecord) -> None:
    add_records(store, "run", [(index, make_record(index)) for index in range(2500)])
    seen = []
    for record in iter_records(store, run_id="run"):
        seen.append(record)
        if len(seen) in {1, 1500}:
            add_records(store, "run", [(10_000 + len(seen), make_record(3))])
    assert seen == [make_record(index) for index in range(2500)]
    assert count_records(store) == 2502
