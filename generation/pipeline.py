"""The pipeline: the item stages as an ordered tuple, and how an item goes through them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from piiloom.corpus.store.judgements import JudgementKind
from piiloom.execution.watching.events import StageEntered, StagePassed, unheard
from piiloom.generation import paraphrase, peripheral, question, screen, situation, spans, subtopics, topics, values
from piiloom.generation.item import Item
from piiloom.generation.judging import JUDGES, judge_stages
from piiloom.generation.stage import ItemRejected, Stage, StageContext

# What each item goes through on its own, in this order; a run may add judges.
STAGES: tuple[Stage, ...] = (values.STAGE, situation.STAGE, peripheral.STAGE, question.STAGE, paraphrase.STAGE, spans.STAGE)
# Before them come the stages that run once a pair or topic, after them the one that sees all items.
STAGE_NAMES: tuple[str, ...] = (topics.NAME, subtopics.NAME, *(stage.name for stage in STAGES), screen.NAME)
# What the whole pipeline may send.
TEMPLATES: tuple[str, ...] = (*topics.TEMPLATES, *subtopics.TEMPLATES, *(name for stage in STAGES for name in stage.templates))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How far an item got: ``done`` is the last stage it passed, ``rejection`` why it went no further."""

    item: Item
    done: str | None = None
    rejection: ItemRejected | None = None


def item_stages(judges: Collection[JudgementKind] = tuple(JUDGES)) -> tuple[Stage, ...]:
    """List what each item of a run with *judges* goes through on its own, in order."""
    return (*STAGES, *judge_stages(judges))


def stage_names(judges: Collection[JudgementKind] = tuple(JUDGES)) -> tuple[str, ...]:
    """List the names of all stages of a run with *judges*, in order."""
    return (*STAGE_NAMES[:-1], *(stage.name for stage in judge_stages(judges)), screen.NAME)


def templates_of(judges: Collection[JudgementKind]) -> tuple[str, ...]:
    """List the templates that a run with *judges* may send; kept with every record."""
    return (*TEMPLATES, *(name for stage in judge_stages(judges) for name in stage.templates))


def stages_after(done: str | None, judges: Collection[JudgementKind]) -> Sequence[Stage]:
    """List the stages that an item which has passed *done* still has before it."""
    stages = item_stages(judges)
    if done is None:
        return stages
    position = next(i for i, stage in enumerate(stages) if stage.name == done)
    return stages[position + 1 :]


async def advance(outcome: Outcome, ctx: StageContext, stages: Sequence[Stage]) -> Outcome:
    """Take an item through *stages*; a rejection ends its way and is kept in the outcome."""
    item, done, sink = outcome.item, outcome.done, ctx.calls.sink
    name = str(item.plan.index)
    for stage in stages:
        if sink is not unheard:
            sink(StageEntered(stage.name, name))
        try:
            item = await stage.run(item, ctx)
        except ItemRejected as rejection:
            return Outcome(item=item, done=done, rejection=rejection)
        done = stage.name
        if sink is not unheard:
            sink(StagePassed(done, name))
    return Outcome(item=item, done=done)
