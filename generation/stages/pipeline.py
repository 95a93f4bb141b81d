"""The pipeline: the item stages as an ordered tuple, and how an item goes through them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from piiloom.corpus.store.judgements import JudgementKind
from piiloom.execution.watching.events import StageEntered, StagePassed
from piiloom.foundation.noop import noop
from piiloom.generation.item import Item
from piiloom.generation.settings.configuration import RecipeName
from piiloom.generation.stage import ItemRejected, Stage, StageContext
from piiloom.generation.stages import (
    abstraction,
    audit,
    ledger,
    paraphrase,
    peripheral,
    post,
    question,
    screen,
    sheet,
    situation,
    spans,
    story,
    subtopics,
    topics,
    values,
    verdict,
)
from piiloom.generation.stages.judging import JUDGES, judge_stages

# The stages that each item passes by itself, in order; a run may add judges. Before them come the stages that run once per pair or
# topic, after them screening, which sees all items.
RECIPES: Mapping[RecipeName, tuple[Stage, ...]] = MappingProxyType(
    {
        "staged": (values.STAGE, situation.STAGE, peripheral.STAGE, question.STAGE, paraphrase.STAGE, spans.STAGE),
        "case": (
            *(values.STAGE, sheet.STAGE, ledger.STAGE, post.STAGE, abstraction.STAGE, audit.STAGE),
            *(spans.STAGE, verdict.STAGE),
        ),
        "story": (story.STAGE,),
    }
)
FIRST_STAGE = topics.NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How far an item got: ``done`` is the last stage it passed (None: none), ``rejection`` why it was rejected, if it was."""

    item: Item
    done: str | None = None
    rejection: ItemRejected | None = None


def item_stages(recipe: RecipeName, judges: Collection[JudgementKind]) -> tuple[Stage, ...]:
    """List the item stages of a run by *recipe* with *judges*, in order."""
    return (*RECIPES[recipe], *judge_stages(judges))


def all_item_stages() -> tuple[Stage, ...]:
    """List the item stages of all recipes, merged so that the stages of each recipe keep their order."""
    found: list[Stage] = []
    for stages in RECIPES.values():
        place = len(found)
        for stage in reversed(stages):
            if stage in found:
                place = found.index(stage)
            else:
                found.insert(place, stage)
    return (*found, *judge_stages(tuple(JUDGES)))


def stage_names(recipe: RecipeName, judges: Collection[JudgementKind]) -> tuple[str, ...]:
    """List the names of all stages of a run by *recipe* with *judges*, in order."""
    return _with_shared(item_stages(recipe, judges))


def all_stage_names() -> tuple[str, ...]:
    """List the names of the stages of any run."""
    return _with_shared(all_item_stages())


def _with_shared(stages: Sequence[Stage]) -> tuple[str, ...]:
    return (FIRST_STAGE, subtopics.NAME, *(stage.name for stage in stages), screen.NAME)


def templates_of(recipe: RecipeName, judges: Collection[JudgementKind]) -> tuple[str, ...]:
    """List the names of the templates that a run by *recipe* with *judges* may send; they are stored with every record."""
    shared = () if recipe == "story" else (*topics.TEMPLATES, *subtopics.TEMPLATES)  # stories come with their own
    return (*shared, *(name for stage in item_stages(recipe, judges) for name in stage.templates))


def stages_after(done: str | None, recipe: RecipeName, judges: Collection[JudgementKind]) -> Sequence[Stage]:
    """List the stages that remain for an item whose last passed stage is *done* (None: all item stages)."""
    stages = item_stages(recipe, judges)
    if done is None:
        return stages
    position = next(i for i, stage in enumerate(stages) if stage.name == done)
    return stages[position + 1 :]


async def advance(outcome: Outcome, ctx: StageContext, stages: Sequence[Stage]) -> Outcome:
    """Take an item through *stages*; a rejection ends this and becomes part of the returned outcome."""
    item, done, sink = outcome.item, outcome.done, ctx.calls.sink
    name = str(item.plan.index)
    for stage in stages:
        if sink is not noop:
            sink(StageEntered(stage.name, name))
        try:
            item = await stage.run(item, ctx)
        except ItemRejected as rejection:
            return Outcome(item=item, done=done, rejection=rejection)
        done = stage.name
        if sink is not noop:
            sink(StagePassed(done, name))
    return Outcome(item=item, done=done)
