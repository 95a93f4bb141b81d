"""Why a record is labelled as it is."""

from __future__ import annotations

from piiloom.annotation_app.sync.editor_data import label_origin
from piiloom.corpus.record import Provenance, Record, RecordPlan, SourceReference
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.judgements import Judgement, save_judgements


def test_plan_judges_and_maker_are_told() -> None:
    record = Record(
        id="r1",
        context="x",
        revision=2,
        plan=RecordPlan(pair=("age", "health"), topic="work", rationale="because"),
        provenance=Provenance(stage="screen", provider="p", model="m", templates=(("topics.v1", "ab"),)),
        source=SourceReference(file="f.jsonl", line=3),
    )
    said = {"kind": "relevance", "span_id": "s1", "planned": "high", "reason": "so", "provider": "p", "model": "j", "verdict": "low"}
    with Store.open(MEMORY) as store:
        rows = [Judgement(value_id="v1", score=0.2, agrees=False, **said), Judgement(value_id="v2", score=0.9, agrees=True, **said)]  # type: ignore[arg-type]
        save_judgements(store, "run", [(0, "r1", row) for row in rows])
        found = label_origin(store, record)
    assert (found["pair"], found["topic"], found["rationale"], found["register"]) == (["age", "health"], "work", "because", None)
    assert (found["provider"], found["model"], found["templates"]) == ("p", "m", [{"name": "topics.v1", "sha256": "ab"}])
    assert found["disagreements"] == 1
    assert [(one["value_id"], one["verdict"], one["agrees"]) for one in found["judges"]] == [("v1", "low", False), ("v2", "low", True)]
    assert found["source"] == {"file": "f.jsonl", "line": 3, "id": None}


def test_a_record_that_nothing_is_known_of_says_so() -> None:
    with Store.open(MEMORY) as store:
        found = label_origin(store, Record(id="r1", context="x"))
    assert {name for name, value in found.items() if value} == set()
