"""Optional stage after ``spans``: the judge who says whether each value really matters to the question.

In: an item with spans. Out: the same with one judgement a value. The judge is asked how far the substance of a good
answer would change if the value were another or absent, for all values in one call, without their planned labels. What it
says stands beside the plan and changes nothing in the record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from piiloom.generation.item import Item
from piiloom.generation.stages.judge_stage import RELEVANT_FROM, JudgedFact, Ruling, Verdict, entries_schema, judge_stage
from piiloom.generation.stages.texts import type_label
from piiloom.taxonomy.entity_types import Taxonomy


def variables(item: Item, facts: Sequence[JudgedFact], taxonomy: Taxonomy) -> Mapping[str, Any]:
    """Return the variables of a prompt about *facts*: the post, its question, and each fact's name, value and kind."""
    return {
        "post": item.passage.text if item.passage else "",
        "question": item.question.abstracted if item.question else "",
        "facts": [{"id": fact.name, "value": fact.text, "kind": type_label(fact.value.entity_type, taxonomy)} for fact in facts],
    }


def _rule(fact: JudgedFact, entry: Verdict) -> Ruling:
    return Ruling(planned=fact.value.relevance, verdict="high" if entry.score >= RELEVANT_FROM else "low")


STAGE = judge_stage("relevance", schema=entries_schema(), variables=variables, rule=_rule)
NAME = STAGE.name
