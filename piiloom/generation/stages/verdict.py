"""Stage of the recipe ``case``: the blind judge, and what becomes of a label that it contradicts.

In: an item with spans. Out: the same with the judgements of ``judge_relevance``, whose judge sees text, question and values but no
label. Its grade is compared with the ledger: 3 and 4 are high, 0 and 1 low, 2 is unsure. If a single low value is unsure and nothing else
is in dispute, the value becomes high: of nine such values, eight were high for at least one of two blind readers. What happens to any
other record with a label that is contradicted or unsure is the run's ``on_disagreement``:

- ``redo``: the question is thought up once more, with the judge's reasons told; what is contradicted again is rejected;
- ``reject``: it is rejected;
- ``relabel``: a contradicted label becomes the judge's; an unsure one stays, and its judgement sends it to annotation.

Never is a contradicted label accepted without a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from piiloom.corpus.record import Relevance
from piiloom.corpus.store.judgements import Judgement
from piiloom.generation.item import MAIN, NOTHING, ONE_POINT, Item, Question
from piiloom.generation.stage import ItemRejected, Stage, StageContext
from piiloom.generation.stages import judge_relevance
from piiloom.generation.stages.abstraction import abstracted
from piiloom.generation.stages.judge_stage import HIGHEST
from piiloom.generation.stages.ledger import labelled, redone

NAME = "verdict"
SURELY_HIGH, SURELY_LOW = 3, 1
_WEIGHT: Mapping[Relevance | None, str] = {"high": MAIN, "low": NOTHING, None: ONE_POINT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """A value whose label the judge contradicts; ``verdict`` is the judge's label, None if it is unsure."""

    judgement: Judgement
    verdict: Relevance | None


class VerdictStage:
    """Has the labels judged, and handles disagreements by the run's ``on_disagreement``."""

    name = NAME
    templates = judge_relevance.STAGE.templates

    async def run(self, item: Item, ctx: StageContext) -> Item:
        """Return the item with its judgements; raises ``ItemRejected`` if a disagreement remains that the policy does not resolve."""
        judged, objections = resolve_lone_doubt(await judge_relevance.STAGE.run(item, ctx))
        if not objections:
            return judged
        policy = ctx.config.on_disagreement or "redo"
        if policy == "relabel":
            return _relabelled(judged, objections)
        if policy == "redo" and judged.case is not None:
            again, objections = resolve_lone_doubt(await _redone(judged, objections, ctx))
            if not objections:
                return again
        raise _rejected(objections)


def resolve_lone_doubt(item: Item) -> tuple[Item, tuple[Objection, ...]]:
    """Return *item* and the objections to it; an objection to a single unsure low value alone makes the value high instead."""
    objections = objections_to(item)
    if len(objections) == 1 and objections[0].verdict is None and item.value(objections[0].judgement.value_id).relevance == "low":
        return _relabelled(item, (replace(objections[0], verdict="high"),)), ()
    return item, objections


def objections_to(item: Item) -> tuple[Objection, ...]:
    """Return the values of *item* whose label its judgements contradict or are unsure of."""
    found = []
    for judgement in item.judgements:
        grade = round(judgement.score * HIGHEST)
        verdict: Relevance | None = "high" if grade >= SURELY_HIGH else "low" if grade <= SURELY_LOW else None
        if verdict != item.value(judgement.value_id).relevance:
            found.append(Objection(judgement=judgement, verdict=verdict))
    return tuple(found)


def _relabelled(item: Item, objections: Sequence[Objection]) -> Item:
    said = {one.judgement.value_id: one.verdict for one in objections if one.verdict is not None}
    values = tuple(replace(value, relevance=said.get(value.id, value.relevance)) for value in item.values)
    spans = tuple(replace(span, relevance=said.get(span.value_id or "", span.relevance)) for span in item.spans)
    return replace(item, values=values, spans=spans)


async def _redone(item: Item, objections: Sequence[Objection], ctx: StageContext) -> Item:
    """Return *item* with a new question for its text, judged again; raises ``ItemRejected`` if there is no valid one."""
    assert item.case is not None  # noqa: S101 - the stage has looked
    number = item.plan.share.number if item.plan.share else 0
    told = [(one.judgement.value_id, _WEIGHT[one.verdict], one.judgement.reason) for one in objections]
    question, refused = await redone(item, told, ctx)
    case = replace(item.case, questions=(*item.case.questions[:number], question, *item.case.questions[number + 1 :]))
    asked = await abstracted(replace(item, case=case), number, question, ctx, once_more=True)
    if isinstance(asked, ItemRejected):
        raise asked
    text, again = asked
    other = labelled(replace(item, case=case, refused=item.refused + refused + again + 1, judgements=()))
    relevance = {value.id: value.relevance for value in other.values}
    spans = tuple(replace(span, relevance=relevance[span.value_id or ""]) for span in other.spans)
    put = Question(draft=question.draft, personal=question.draft, abstracted=text)
    return await judge_relevance.STAGE.run(replace(other, spans=spans, question=put), ctx)


def _rejected(objections: Sequence[Objection]) -> ItemRejected:
    contradicted = [one for one in objections if one.verdict is not None]
    code = "contradicted" if contradicted else "unsure"
    first = (contradicted or list(objections))[0].judgement
    said = f"value {first.value_id} is labelled {first.planned}; the judge says {first.score * HIGHEST:.0f} of {HIGHEST}: {first.reason}"
    more = f" (and {len(objections) - 1} more)" if len(objections) > 1 else ""
    return ItemRejected(code, said + more, stage=NAME)


STAGE: Stage = VerdictStage()
