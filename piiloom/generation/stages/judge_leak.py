"""Optional stage after ``spans``: the judge who says whether a value is given away where it should not be.

In: an item with spans. Out: the same with one judgement a value. The judge sees the post as it would be sent, with
placeholders for the values that do not matter, and the question. Of those values it says whether the question or another
sentence gives them away, of the values that matter whether the question alone does. Nothing in the record is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from piiloom.corpus.record import Span
from piiloom.generation.item import Item
from piiloom.generation.stage import Fault
from piiloom.generation.stages.judge_stage import LEAKED_FROM, JudgedFact, Ruling, Verdict, entries_schema, judge_stage
from piiloom.generation.stages.texts import type_label
from piiloom.taxonomy.entity_types import Taxonomy

NOWHERE = "nowhere"
PLACES = (NOWHERE, "question", "sentence")


def _variables(item: Item, facts: Sequence[JudgedFact], taxonomy: Taxonomy) -> Mapping[str, Any]:
    return {
        "post": _masked_text(item.passage.text if item.passage else "", item.spans, facts),
        "question": item.question.abstracted if item.question else "",
        "facts": [
            {"id": fact.name, "value": fact.text, "kind": type_label(fact.value.entity_type, taxonomy), "masked": _masked(fact)}
            for fact in facts
        ],
    }


def _masked(fact: JudgedFact) -> bool:
    """Whether the value is masked: those of low relevance are, so this judge does see the planned label."""
    return fact.value.relevance == "low"


def _masked_text(text: str, spans: Sequence[Span], facts: Sequence[JudgedFact]) -> str:
    """Return *text* with a placeholder for every mention of a masked fact."""
    hidden = {fact.value.id: f"[{fact.name}: {fact.value.entity_type}]" for fact in facts if _masked(fact)}
    pieces: list[str] = []
    position = 0
    for span in spans:
        if span.value_id in hidden:
            pieces += [text[position : span.start], hidden[span.value_id]]
            position = span.end
    return "".join(pieces) + text[position:]


def _rule(fact: JudgedFact, entry: Verdict) -> Ruling:
    """Return where the value is leaked: nowhere if the score is below the threshold. Raises ``Fault`` if score and place disagree."""
    if entry.score < LEAKED_FROM:
        return Ruling(planned=NOWHERE, verdict=NOWHERE)
    if entry.where in (None, NOWHERE):
        raise Fault("leak_nowhere", f'{fact.name} has a score that says it can be learned; "where" must then say from what')
    if entry.where == "sentence" and not _masked(fact):
        raise Fault("leak_in_post", f'{fact.name} is not masked: only the question counts, so "where" cannot be "sentence"')
    return Ruling(planned=NOWHERE, verdict=str(entry.where))


STAGE = judge_stage("leak", schema=entries_schema(where={"type": "string", "enum": list(PLACES)}), variables=_variables, rule=_rule)
NAME = STAGE.name
