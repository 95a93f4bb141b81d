"""Whatever people send, however often and in whatever order it arrives: the log alone gives the same documents as the tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from piiloom.annotation_app.documents.document import Refusal, State, document_of, parse_operation
from piiloom.annotation_app.documents.history import EDITS, EditHistory
from piiloom.annotation_app.sync.service import DocumentService, Sent
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import FOR_ANOTHER, load_documents, read_events
from piiloom.corpus.store.annotation_items import base_records
from piiloom.corpus.store.opening import SharedStore
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.annotation_app.replaying import documents_from, rebuild_documents
from tests.annotation_app.sync_stories import Tab, insert, pool, record, service_over, shared_store
from tests.corpus.record_strategies import NASTY, TYPES, records
from tests.longer import EXPLORE

numbers = itertools.count(1)
pieces = st.lists(st.sampled_from([*NASTY, "a", " "]), max_size=3).map("".join)


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedStore]:
    opened = shared_store([record(0)])
    yield opened
    opened.close()


SAID = [{"op": "accept"}, {"op": "reject", "reason": "no"}, {"op": "reopen"}, {"op": "flag", "comment": "?"}, {"op": "unflag"}]
junk = st.recursive(st.none() | st.booleans() | pieces, lambda inner: st.lists(inner, max_size=2), max_leaves=3)


@st.composite
def operations(draw: st.DrawFn, state: State, events: list[int]) -> object:
    """An operation on *state*: mostly one that can be done."""
    context = state.document.context
    ids = st.sampled_from([*(mark.id for mark in state.document.marks), "nobody"])
    types = st.sampled_from(TYPES)
    start = draw(st.integers(0, len(context)))
    end = draw(st.integers(start, min(len(context), start + 6)))
    span = {"start": st.just(start), "end": st.just(end)}
    text = {"op": st.just("text"), "at": st.just(start), "removed": st.just(context[start:end]), "inserted": pieces}
    added = st.fixed_dictionaries({"id": st.sampled_from(["u-1", "u-2", "u-3"]), **span, "type": types, "relevance": st.just("high")})
    kinds: list[st.SearchStrategy[object]] = [
        st.fixed_dictionaries({**text, "field": st.just("context")}),
        st.fixed_dictionaries({**text, "field": st.just("question"), "at": st.just(0), "removed": st.just("")}),
        st.fixed_dictionaries({"op": st.just("add"), "span": added}),
        st.fixed_dictionaries({"op": st.just("move"), "id": ids, **span}),
        st.fixed_dictionaries({"op": st.just("type"), "id": ids, "type": types}),
        st.fixed_dictionaries({"op": st.just("relevance"), "id": ids, "relevance": st.sampled_from(["high", "low", None])}),
        st.fixed_dictionaries({"op": st.sampled_from(["remove", "confirm"]), "id": ids}),
        st.builds(lambda name, text: {"op": "many", "operations": [{"op": "remove", "id": name}, insert(text)]}, ids, pieces),
        st.sampled_from(SAID),
        st.fixed_dictionaries({"op": st.sampled_from(["undo", "undo", "redo"])}),
        st.fixed_dictionaries({"op": st.just("revert"), "event": st.sampled_from([*events, 0])}),
        junk,
    ]
    return draw(st.one_of(kinds))


def events_of(shared: SharedStore, record_id: str, who: str) -> list[int]:
    with shared.reading() as store:
        return [event.event for event in read_events(store, record_ids=[record_id], owner=who, kinds=EDITS)]


def check(shared: SharedStore, service: DocumentService, record_id: str, sent: dict[tuple[str, int], Sent]) -> None:
    with shared.reading() as store:
        events = read_events(store, record_ids=[record_id])
        held = load_documents(store, record_ids=[record_id])
        bases = base_records(store, [record_id])
    delivered = [event for event in events if event.kind != FOR_ANOTHER]
    assert sorted((str(event.client), int(event.sequence or 0)) for event in delivered) == sorted(sent)
    for event in delivered:
        assert event.entry["operation"] == sent[str(event.client), int(event.sequence or 0)].operation
    assert documents_from(bases, events) == held
    for row in held:
        assert service.open(row.annotator, record_id).state.to_json() == row.state
        # Doing the operations again leads there too.
        history = EditHistory(document_of(bases[record_id]))
        for event in events:
            if event.kind in EDITS and event.owner == row.annotator:
                history.do(parse_operation(event.entry["operation"]), shipped_taxonomy().types)
                history.name_event(history.version, event.event)
        assert (history.state.to_json(), history.version) == (row.state, row.version)


# An example is a dozen transactions or more.
LARGE = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.long
@settings(max_examples=8, deadline=None, suppress_health_check=LARGE)
@given(data=st.data())
def test_replay_equals_tables(shared: SharedStore, data: st.DataObject) -> None:
    replay(shared, data)


@pytest.mark.long
@settings(max_examples=50 if EXPLORE else 20, deadline=None, suppress_health_check=LARGE)
@given(data=st.data())
def test_replay_equals_tables_at_length(shared: SharedStore, data: st.DataObject) -> None:
    replay(shared, data)


def replay(shared: SharedStore, data: st.DataObject) -> None:
    record_id = f"replayed-{next(numbers)}"
    with shared.writing() as store:
        pool(store, [data.draw(records(record_id=record_id))])
    service = service_over(shared, capacity=2)
    tabs = {who: [Tab(f"{record_id}-{who}-{n}") for n in range(2)] for who in ("ada", "bo")}
    sent: dict[tuple[str, int], Sent] = {}
    for _ in range(data.draw(st.integers(1, 8), label="batches")):
        who = data.draw(st.sampled_from(sorted(tabs)), label="who")
        tab = data.draw(st.sampled_from(tabs[who]))
        found = service.open(who, record_id)
        base = found.version + data.draw(st.sampled_from([0, 0, 0, 0, 1, -1 if found.version else 0]))
        known = events_of(shared, record_id, who)
        batch = tab.send(record_id, base, *data.draw(st.lists(operations(found.state, known), min_size=1, max_size=4), label="operations"))
        sent |= {(one.client, one.sequence): one for one in batch}
        again = data.draw(st.integers(0, len(tab.sent)))
        outbox = data.draw(st.permutations(tab.sent[-max(again, len(batch)) :]))
        for _ in range(data.draw(st.integers(1, 2), label="deliveries")):
            assert service.deliver(who, outbox).acknowledged == {tab.name: tab.newest}
        steps = events_of(shared, record_id, "ada")
        if steps and data.draw(st.integers(0, 2), label="eva takes a step of ada's back") == 0:
            with suppress(Refusal):
                service.revert("eva", "ada", record_id, data.draw(st.sampled_from(steps)))
        if data.draw(st.booleans(), label="restart"):
            service = service_over(shared)
    check(shared, service, record_id, sent)


def test_the_table_can_be_made_anew(shared: SharedStore) -> None:
    names = [f"anew-{n}" for n in range(3)]
    with shared.writing() as store:
        pool(store, [Record(id=name, context="Some words.") for name in names])
    service = service_over(shared)
    for who in ("ada", "bo"):
        for name in names:
            service.deliver(who, Tab(f"{who}-{name}").send(name, 0, insert(who), {"op": "accept"}))
    with shared.writing() as store:
        held = load_documents(store)
        store.change("DELETE FROM annotation_documents")
    assert rebuild_documents(shared) == len(held)
    with shared.reading() as store:
        assert load_documents(store) == held
