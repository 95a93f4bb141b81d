"""Judgements: kept once beside the planned labels, read back as they were, disagreements by record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import Judgement, JudgementRow, disagreements, load_judgements, save_judgements
from piiloom.foundation.errors import DataError

SAID = Judgement(
    kind="relevance",
    value_id="v1",
    span_id="s2",
    planned="high",
    score=0.75,
    verdict="high",
    agrees=True,
    reason="Without it the advice would be another.",
    provider="openai",
    model="gpt-6-luna",
)
DOUBTED = replace(SAID, value_id="v2", span_id="s1", score=0.25, verdict="low", agrees=False)
UNSTORABLE = replace(SAID, value_id="v3", reason="half a pair \ud83d")
LEAKED = replace(SAID, kind="leak", planned="nowhere", verdict="question", score=1.0, agrees=False)


def row(index: int, record_id: str, said: Judgement, run_id: str = "run") -> JudgementRow:
    return JudgementRow(record_id=record_id, run_id=run_id, plan_index=index, judgement=said)


def test_judgements_come_back_as_they_were_by_plan_judge_and_value(store: Store) -> None:
    assert save_judgements(store, "run", [(7, "r7", LEAKED), (7, "r7", DOUBTED), (7, "r7", SAID), (3, "r3", SAID)]) == 4
    wanted = [row(3, "r3", SAID), row(7, "r7", LEAKED), row(7, "r7", DOUBTED), row(7, "r7", SAID)]
    assert load_judgements(store, "run") == wanted
    assert load_judgements(store, "run", "r3") == wanted[:1]
    assert load_judgements(store, record_id="r7") == wanted[1:]
    assert load_judgements(store, "other") == []


def test_saving_again_adds_nothing_and_changes_nothing(store: Store) -> None:
    save_judgements(store, "run", [(3, "r3", SAID)])
    changed = replace(SAID, reason="another", score=0.0)
    assert save_judgements(store, "run", [(3, "r3", changed), (3, "r3", DOUBTED), (3, "r3", DOUBTED)]) == 1
    assert load_judgements(store, "run") == [row(3, "r3", SAID), row(3, "r3", DOUBTED)]
    assert save_judgements(store, "other", [(3, "r3", SAID)]) == 1
    assert len(load_judgements(store)) == 3
    assert save_judgements(store, "run", []) == 0


def test_disagreements_are_grouped_by_record_in_plan_order(store: Store) -> None:
    rows = [(9, "a", LEAKED), (9, "a", SAID), (9, "a", DOUBTED), (2, "z", DOUBTED), (4, "m", SAID)]
    save_judgements(store, "run", rows)
    save_judgements(store, "other", [(1, "q", LEAKED)])
    found = disagreements(store, "run")
    assert list(found) == ["z", "a"]
    assert found["a"] == (row(9, "a", LEAKED), row(9, "a", DOUBTED))
    assert disagreements(store, "third") == {}


def test_they_survive_the_process_and_share_a_transaction_with_the_record(store_path: Path) -> None:
    with Store.open(store_path) as opened:
        with pytest.raises(DataError), opened.transaction():
            save_judgements(opened, "run", [(1, "a", SAID), (1, "a", UNSTORABLE)])
        with opened.transaction():
            save_judgements(opened, "run", [(2, "b", SAID)])
    with Store.open(store_path) as again:
        assert load_judgements(again) == [row(2, "b", SAID)]


def test_a_reason_that_utf8_cannot_hold_is_refused_by_name(store: Store) -> None:
    with pytest.raises(DataError, match="judgements"):
        save_judgements(store, "run", [(1, "a", UNSTORABLE)])


ROWS = st.tuples(st.integers(0, 5), st.sampled_from(["relevance", "leak"]), st.sampled_from(["v1", "v2", "v3"]), st.booleans())


@pytest.mark.long
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROWS, max_size=30))
def test_each_value_is_kept_once_for_each_judge_however_it_is_saved(store: Store, rows: list[tuple[int, str, str, bool]]) -> None:
    judged = [(i, f"r{i}", replace(SAID, kind=kind, value_id=value, agrees=agrees)) for i, kind, value, agrees in rows]  # type: ignore[arg-type]
    store.change("DELETE FROM judgements")
    save_judgements(store, "one", judged)
    for single in judged:
        save_judgements(store, "many", [single])
    one, many = load_judgements(store, "one"), load_judgements(store, "many")
    assert one == [replace(row, run_id="one") for row in many]
    assert len(one) == len({(i, kind, value) for i, kind, value, _ in rows})
    assert set(disagreements(store, "one")) == {row.record_id for row in one if not row.judgement.agrees}
