"""Stage of the recipe ``case``: the blind judge, and the labels that it contradicts.

In: an item with spans. Out: the same with the judgements of ``judge_relevance``, whose judge sees text, question and values but no
label. A grade of 2 or more is high: at least one point of a good answer would be another without the value. The run's
``on_disagreement`` decides about a contradicted label:

- ``relabel``: the label becomes the judge's. The judgement keeps the ledger's label, and the record is rejected if no value is high
  any more, or more than half of them are;
- ``reject``: the record is rejected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from piiloom.corpus.record import Relevance
from piiloom.generation.item import Item
from piiloom.generation.stage import ItemRejected, Stage, StageContext
from piiloom.generation.stages import judge_relevance
from piiloom.generation.stages.judge_stage import HIGHEST
from piiloom.generation.stages.ledger import most_deciding

NAME = "verdict"
_HIGH_FROM = 2  # grade


class VerdictStage:
    """Has the labels judged, and handles disagreements by the run's ``on_disagreement``."""

    name = NAME
    templates = judge_relevance.STAGE.templates

    async def run(self, item: Item, ctx: StageContext) -> Item:
        """Return the item with its judgements; raises ``ItemRejected`` if the policy rejects a disagreement or its result."""
        judged = await judge_relevance.STAGE.run(item, ctx)
        contradicted = contradictions(judged)
        if contradicted and ctx.config.on_disagreement == "reject":
            first = next(one for one in judged.judgements if one.value_id in contradicted)
            said = f"value {first.value_id} is labelled {first.planned}; the judge says {first.score * HIGHEST:.0f} of {HIGHEST}"
            more = f" (and {len(contradicted) - 1} more)" if len(contradicted) > 1 else ""
            raise ItemRejected("contradicted", f"{said}: {first.reason}{more}", stage=NAME)
        return relabelled(judged, contradicted)


def contradictions(item: Item) -> Mapping[str, Relevance]:
    """Return the judge's label of each value of *item*, by id, whose label its judgement contradicts."""
    labels: dict[str, Relevance] = {one.value_id: "high" if round(one.score * HIGHEST) >= _HIGH_FROM else "low" for one in item.judgements}
    return {name: label for name, label in labels.items() if label != item.value(name).relevance}


def relabelled(item: Item, labels: Mapping[str, Relevance]) -> Item:
    """Return *item* with *labels* by value id; raises ``ItemRejected`` if then no value is high or more than half of them are."""
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


STAGE: Stage = VerdictStage()
