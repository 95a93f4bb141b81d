"""The pipeline: the item stages as an ordered tuple, and how an item goes through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generation import paraphrase, peripheral, question, screen, situation, spans, subtopics, topics, values
from generation.item import Item
from generation.stage import ItemRejected, Stage, StageContext

# What each item goes through on its own, in this order.
STAGES: tuple[Stage, ...] = (values.STAGE, situation.STAGE, peripheral.STAGE, question.STAGE, paraphrase.STAGE, spans.STAGE)
# Before them come the stages that run once a pair or topic, after them the one that sees all items.
STAGE_NAMES: tuple[str, ...] = (topics.NAME, subtopics.NAME, *(stage.name for stage in STAGES), screen.NAME)
# What the whole pipeline may send; kept with every record.
TEMPLATES: tuple[str, ...] = (*topics.TEMPLATES, *subtopics.TEMPLATES, *(name for stage in STAGES for name in stage.templates))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How far an item got: ``done`` is the last stage it passed, ``rejection`` why it went no further."""

    item: Item
    done: str | None = None
    rejection: ItemRejected | None = None


def stages_after(done: str | None) -> Sequence[Stage]:
    """List the stages that an item which has passed *done* still has before it."""
    if done is None:
        return STAGES
    position = next(i for i, stage in enumerate(STAGES) if stage.name == done)
    return STAGES[position + 1 :]


async def advance(outcome: Outcome, ctx: StageContext, stages: Sequence[Stage]) -> Outcome:
    """Take an item through *stages*; a rejection ends its way and is kept in the outcome."""
    item, done = outcome.item, outcome.done
    for stage in stages:
        try:
            item = await stage.run(item, ctx)
        except ItemRejected as rejection:
            return Outcome(item=item, done=done, rejection=rejection)
        done = stage.name
    return Outcome(item=item, done=done)
