"""Stage 5: asides, which hold the values that do not matter.

In: an item with values. Out: for each aside in the plan, a sentence or two of ``peripheral_words`` words on
something else, with the aside's values verbatim. Values that the stage ``values`` left open are asked for first, given the text so far.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from piiloom.corpus.alignment import MarkedText
from piiloom.generation.item import Item
from piiloom.generation.stage import PromptRequest, Stage, StageContext, ask, text_schema
from piiloom.generation.stages.texts import other_texts, read_sentences, value_variables
from piiloom.generation.stages.values import with_values

NAME = "peripheral"


async def run(item: Item, ctx: StageContext) -> Item:
    """Return the item with its asides."""
    item = replace(item, peripheral=())
    for number, aside in enumerate(item.plan.asides):
        told = [sentence.text for sentence in (item.situation, *item.peripheral) if sentence is not None]
        item = await with_values(item, [value for value in item.plan.wanted if value.id in aside.values], ctx, "\n".join(told))
        sentence, again = await _one(number, item, ctx)
        item = replace(item, peripheral=(*item.peripheral, sentence), refused=item.refused + again)
    return item


async def _one(number: int, item: Item, ctx: StageContext) -> tuple[MarkedText, int]:
    plan = item.plan
    aside = plan.asides[number]
    values = tuple(item.value(value_id) for value_id in aside.values)

    def accept(data: Any) -> MarkedText:
        return read_sentences(data["text"], values, plan.peripheral_words, plan.peripheral_sentences, inflects=ctx.locale.inflects)

    low, high = plan.peripheral_words
    question = PromptRequest(
        stage=NAME,
        template="peripheral",
        variables={
            "topic": plan.topic,
            "subtopic": plan.subtopic,
            "values": value_variables(values, ctx),
            "others": other_texts(item, values),
            "frame": aside.frame,
            "opening": aside.opening,
            "words": {"min": low, "max": high},
            "sentences": plan.peripheral_sentences,
            "register": plan.register,
            "language": ctx.locale.text_language,
            "seed": plan.seed,
            "number": number,
        },
        schema=text_schema("text"),
        item_id=f"{plan.index}/{number}",
    )
    return await ask(question, ctx, accept)


STAGE = Stage(name=NAME, templates=("peripheral",), run=run)
