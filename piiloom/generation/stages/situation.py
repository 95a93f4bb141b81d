"""Stage 4: the sentences that state the problem.

In: an item with values. Out: sentences of ``situation_words`` words in all that hold every high-relevance value verbatim,
their marks stripped into offsets. A line break tells sentences apart that may be moved.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from piiloom.corpus.alignment import MarkedText
from piiloom.generation.item import Item
from piiloom.generation.stage import PromptRequest, Stage, StageContext, ask, text_schema
from piiloom.generation.stages.texts import other_texts, read_sentences, value_variables

NAME = "situation"


async def run(item: Item, ctx: StageContext) -> Item:
    """Return the item with its situation."""
    plan, values = item.plan, item.high_values()

    def accept(data: Any) -> MarkedText:
        return read_sentences(data["text"], values, plan.situation_words, plan.situation_sentences, inflects=ctx.locale.inflects)

    low, high = plan.situation_words
    question = PromptRequest(
        stage=NAME,
        template="situation",
        variables={
            "topic": plan.topic,
            "subtopic": plan.subtopic,
            "scenario": plan.scenario,
            "values": value_variables(values, ctx),
            "pair": list(plan.pair),
            "others": other_texts(item, values),
            "words": {"min": low, "max": high},
            "sentences": plan.situation_sentences,
            "register": plan.register,
            "language": ctx.locale.text_language,
            "seed": plan.seed,
        },
        schema=text_schema("text"),
        item_id=str(plan.index),
    )
    sentence, refused = await ask(question, ctx, accept)
    return replace(item, situation=sentence, refused=item.refused + refused)


STAGE = Stage(name=NAME, templates=("situation",), run=run)
