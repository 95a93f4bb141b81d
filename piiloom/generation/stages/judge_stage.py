"""What all judges do: list the values of an item as facts, ask once, read one judgement a value.

The ids of values tell what was planned (those that matter come first), so a judge meets every value as a fact under a name
of its own, in an order drawn from the plan's seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from piiloom.corpus.record import Span
from piiloom.corpus.store.judgements import Judgement, JudgementKind
from piiloom.foundation.seeding import derive_rng
from piiloom.generation.item import Item, ItemValue
from piiloom.generation.stage import Fault, ItemRejected, PromptRequest, Stage, StageContext, ask, objects_schema
from piiloom.taxonomy.entity_types import Taxonomy

# The highest grade of both scales; scores are stored as shares of it.
HIGHEST = 4
# From this score on, a value counts as relevant (readers call a value that changes one point among several low) or as leaked.
RELEVANT_FROM = 0.75
LEAKED_FROM = 0.5
LONGEST_REASON = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedFact:
    """A value as a judge sees it: its neutral name ("f1"), its first mention, and the words of that mention."""

    name: str
    value: ItemValue
    span: Span
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One entry of a judge's reply: the score from 0 to 1, the reason, and the place of a leak, if that was asked."""

    score: float
    reason: str
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The planned label and the judge's, in the same vocabulary."""

    planned: str
    verdict: str


def judge_stage(
    kind: JudgementKind,
    *,
    schema: Mapping[str, Any],
    variables: Callable[[Item, Sequence[JudgedFact], Taxonomy], Mapping[str, Any]],
    rule: Callable[[JudgedFact, Verdict], Ruling],
) -> Stage:
    """Return the stage of one judge: *variables* fill its template, *rule* turns an entry into a ruling or raises ``Fault``.

    An item without values passes unjudged. An item for which the judge gives no usable reply is rejected, so that every record of a
    set is judged. The judge's refused replies are not added to ``Item.refused``: that count is part of the record id, and judging
    does not change the record.
    """
    name = f"judge_{kind}"

    async def run(item: Item, ctx: StageContext) -> Item:
        facts = judged_facts(item, name)
        if not facts:
            return item
        filled = variables(item, facts, ctx.taxonomy)
        question = PromptRequest(stage=name, template=name, variables=filled, schema=schema, item_id=str(item.plan.index))

        def read(data: Any, *, cut: bool = False) -> dict[str, tuple[Verdict, Ruling]]:
            entries = _entries(data, facts, cut=cut)
            return {fact.value.id: (entries[fact.name], rule(fact, entries[fact.name])) for fact in facts}

        said, _ = await ask(question, ctx, read, last_resort=lambda data: read(data, cut=True), judging=True)
        spans = {fact.value.id: fact.span.id for fact in facts}
        new = tuple(
            Judgement(
                kind=kind,
                value_id=value.id,
                span_id=spans[value.id],
                planned=said[value.id][1].planned,
                score=said[value.id][0].score,
                verdict=said[value.id][1].verdict,
                agrees=said[value.id][1].verdict == said[value.id][1].planned,
                reason=said[value.id][0].reason,
                provider=ctx.judging.provider.name,
                model=ctx.judging.provider.model,
            )
            for value in item.values
        )
        return replace(item, judgements=item.judgements + new)

    return Stage(name=name, templates=(name,), run=run)


def entries_schema(**more: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON schema of a judge's reply: entries with id, reason, *more* and score, in this order (reason before score)."""
    score = {"type": "integer", "enum": list(range(HIGHEST + 1))}
    return objects_schema("judgements", {"id": {"type": "string"}, "reason": {"type": "string"}, **more, "score": score})


def judged_facts(item: Item, stage: str) -> tuple[JudgedFact, ...]:
    """Return the values of *item* in the seeded order of *stage*; raises ``ItemRejected`` if it has no question or spans yet."""
    mentions = {span.value_id: span for span in reversed(item.spans)}
    if item.passage is None or item.question is None or any(value.id not in mentions for value in item.values):
        raise ItemRejected("out_of_order", "the item has no question, or no spans yet", stage=stage)
    values = list(item.values)
    derive_rng(stage, item.plan.seed).shuffle(values)
    return tuple(
        JudgedFact(name=f"f{number}", value=value, span=mentions[value.id], text=mentions[value.id].text_in(item.passage.text))
        for number, value in enumerate(values, 1)
    )


def _entries(data: Any, facts: Sequence[JudgedFact], *, cut: bool) -> dict[str, Verdict]:
    """Return the entries of a reply by fact name; raises ``Fault`` unless each fact has exactly one entry, with a reason.

    With *cut*, a reason that is too long is shortened instead of refused.
    """
    names = [fact.name for fact in facts]
    known = ", ".join(names)
    entries: dict[str, Verdict] = {}
    for raw in data["judgements"]:
        name, reason = raw["id"], " ".join(raw["reason"].split())
        if name not in names:
            raise Fault("judged_unknown", f"an entry has an id that is not in the list; the ids are {known}")
        if name in entries:
            raise Fault("judged_twice", f"{name} has more than one entry; each id has exactly one")
        if not reason:
            raise Fault("no_reason", f"the entry {name} gives no reason")
        if len(reason) > LONGEST_REASON and not cut:
            raise Fault("long_reason", f"the reason of {name} has {len(reason)} characters; {LONGEST_REASON} at most are wanted")
        entries[name] = Verdict(score=raw["score"] / HIGHEST, reason=reason[:LONGEST_REASON], where=raw.get("where"))
    missing = [name for name in names if name not in entries]
    if missing:
        raise Fault("judged_incompletely", f"there is no entry for {', '.join(missing)}; each of {known} has exactly one")
    return entries
