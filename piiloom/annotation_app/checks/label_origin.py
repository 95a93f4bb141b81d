"""Why a record is labeled as it is: the plan, the judges' verdicts, and the models and prompts that wrote it."""

from __future__ import annotations

from typing import Any

from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import Judgement, load_judgements


def label_origin(store: Store, record: Record) -> dict[str, Any]:
    """Return what is known about the origin of *record*, as JSON values for the editor. Unknown values are None or empty.

    ``judges`` has the verdicts in the order of ``load_judgements``; ``disagreements`` counts those that went against the plan.
    """
    plan, made, source = record.plan, record.provenance, record.source
    said = [row.judgement for row in load_judgements(store, record_id=record.id)]
    return {
        "pair": list(plan.pair) if plan else None,
        "topic": plan.topic if plan else None,
        "subtopic": plan.subtopic if plan else None,
        "scenario": plan.scenario if plan else None,
        "rationale": plan.rationale if plan else None,
        "register": plan.register if plan else None,
        "cue_level": plan.cue_level if plan else None,
        "judges": [_judged(one) for one in said],
        "disagreements": sum(not one.agrees for one in said),
        "stage": made.stage if made else None,
        "provider": made.provider if made else None,
        "model": made.model if made else None,
        "templates": [{"name": name, "sha256": sha256} for name, sha256 in made.templates] if made else [],
        "source": {"file": source.file, "line": source.line, "id": source.id} if source else None,
        "revision": record.revision,
    }


def _judged(one: Judgement) -> dict[str, Any]:
    names = ("kind", "span_id", "value_id", "planned", "verdict", "score", "agrees", "reason", "provider", "model")
    return {name: getattr(one, name) for name in names}
