"""Stage of the recipe ``case``: the blind judge, and the labels that it contradicts.

In: an item with spans. Out: the same with the judgements of ``judge_relevance``, whose judge sees text, question and values but no
label. A grade of 2 or more is high: at least one point of a good answer would be another without the value. Where that contradicts the
ledger, the judge takes a closer look at the value: could it be masked? (Of the values that the ledger calls low and the judge grades
with 2, both of two readers called 13 high and 10 low.) The run's ``on_disagreement`` decides about a label that is
still contradicted:

- ``relabel``: the label becomes the judge's. The judgement keeps the ledger's label, and the record is rejected if no value is high
  any more, or too many of them are;
- ``reject``: the record is rejected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from piiloom.corpus.record import Relevance
from piiloom.corpus.store.judgements import Judgement
from piiloom.generation.item import Item
from piiloom.generation.stage import Fault, ItemRejected, PromptRequest, Stage, StageContext, ask, objects_schema
from piiloom.generation.stages import judge_relevance
from piiloom.generation.stages.judge_stage import HIGHEST, LONGEST_REASON, judged_facts
from piiloom.generation.stages.ledger import most_deciding

NAME = "verdict"
CLOSER_LOOK = "case_closer_look"
SCHEMA = objects_schema("facts", {"id": {"type": "string"}, "without": {"type": "string"}, "needed": {"type": "boolean"}})
_HIGH_FROM = 2  # grade


async def run(item: Item, ctx: StageContext) -> Item:
    """Return the item with its judgements; raises ``ItemRejected`` if the policy rejects a disagreement or its result."""
    judged = await judge_relevance.STAGE.run(item, ctx)
    contradicted = contradictions(judged)
    if contradicted:
        judged = await _looked_closer(judged, contradicted, ctx)
        contradicted = contradictions(judged)
    if contradicted and ctx.config.on_disagreement == "reject":
        first = next(one for one in judged.judgements if one.value_id in contradicted)
        said = f"value {first.value_id} is labelled {first.planned}; the judge says {contradicted[first.value_id]}"
        more = f" (and {len(contradicted) - 1} more)" if len(contradicted) > 1 else ""
        raise ItemRejected("contradicted", f"{said}: {first.reason}{more}", stage=NAME)
    return relabelled(judged, contradicted)


def contradictions(item: Item) -> Mapping[str, Relevance]:
    """Return the judge's label of each value of *item*, by id, whose label its judgement contradicts."""
    labels: dict[str, Relevance] = {one.value_id: "high" if round(one.score * HIGHEST) >= _HIGH_FROM else "low" for one in item.judgements}
    return {name: label for name, label in labels.items() if label != item.value(name).relevance}


async def _looked_closer(item: Item, contradicted: Mapping[str, Relevance], ctx: StageContext) -> Item:
    """Return *item* with the judge's second judgement of the values *contradicted*: highest grade for a needed one, or 0."""
    shown = {fact.name: fact for fact in judged_facts(item, NAME) if fact.value.id in contradicted}

    def read(data: Any) -> Mapping[str, tuple[float, str]]:
        found = {entry["id"]: entry for entry in data["facts"]}
        if found.keys() != shown.keys() or len(found) < len(data["facts"]):
            raise Fault("judged_incompletely", f"each of {', '.join(shown)} must have exactly one entry")
        return {shown[name].value.id: (float(entry["needed"]), " ".join(entry["without"].split())) for name, entry in found.items()}

    asked = PromptRequest(
        stage=judge_relevance.NAME,
        template=CLOSER_LOOK,
        variables=judge_relevance.variables(item, tuple(shown.values()), ctx.taxonomy),
        schema=SCHEMA,
        item_id=f"{item.plan.index}/{CLOSER_LOOK}",
    )
    said, _ = await ask(asked, ctx, read, judging=True)
    return replace(item, judgements=tuple(_again(one, said.get(one.value_id)) for one in item.judgements))


def _again(judgement: Judgement, said: tuple[float, str] | None) -> Judgement:
    if said is None:
        return judgement
    score, reason = said
    verdict = "high" if score else "low"
    return replace(judgement, score=score, verdict=verdict, agrees=verdict == judgement.planned, reason=reason[:LONGEST_REASON])


def relabelled(item: Item, labels: Mapping[str, Relevance]) -> Item:
    """Return *item* with *labels* by value id; raises ``ItemRejected`` if then no value is high or too many of them are."""
    if not labels:
        return item
    values = tuple(replace(value, relevance=labels.get(value.id, value.relevance)) for value in item.values)
    high = sum(value.relevance == "high" for value in values)
    if not high:
        raise ItemRejected("nothing_decides", "by the judge's grades no value matters to the question", stage=NAME)
    if high > most_deciding(len(values)):
        raise ItemRejected("too_broad", f"by the judge's grades {high} of {len(values)} values matter to the question", stage=NAME)
    spans = tuple(replace(span, relevance=labels.get(span.value_id or "", span.relevance)) for span in item.spans)
    return replace(item, values=values, spans=spans)


STAGE = Stage(name=NAME, templates=(*judge_relevance.STAGE.templates, CLOSER_LOOK), run=run)
