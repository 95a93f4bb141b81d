"""Stage 7: one post out of loose sentences.

In: an item with situation and asides. Out: one text of ``context_words`` words in which every value stands unchanged
and the first mention has the relevance that the plan's ``lead`` names, so that position tells nothing. Which comes first is
a wish: asked for once more when it is not met, and then let be.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from piiloom.corpus.alignment import MarkedText, add_marks
from piiloom.foundation.seeding import derive_rng
from piiloom.generation.item import Item, ItemValue
from piiloom.generation.stage import ItemRejected, PromptRequest, Stage, StageContext, Wish, ask, text_schema
from piiloom.generation.stages.texts import check_length, read_marked, read_unmarked, value_variables

NAME = "paraphrase"


async def run(item: Item, ctx: StageContext) -> Item:
    """Return the item with its passage; raises ``ItemRejected`` if it has no situation yet."""
    if item.situation is None:
        raise ItemRejected("out_of_order", "the item has no situation yet", stage=NAME)
    plan, first = item.plan, first_value(item)

    def accept(data: Any) -> MarkedText:
        passage = read_marked(data["text"], item.values, inflects=ctx.locale.inflects)
        check_length(passage.text, plan.context_words)
        if first and passage.mentions and item.value(passage.mentions[0].value_id).relevance != plan.lead:
            told = f"the value [[{first.id}|{first.text}]] must be the first one that the reader meets"
            raise Wish("wrong_lead", told, passage)
        return passage

    sentences = [item.situation, *item.peripheral]
    derive_rng("sentence order", plan.seed).shuffle(sentences)
    low, high = plan.context_words
    question = PromptRequest(
        stage=NAME,
        template="paraphrase",
        variables={
            "sentences": [add_marks(sentence) for sentence in sentences],
            "values": value_variables(item.values, ctx),
            "first": {"id": first.id, "text": first.text} if first else None,
            "lead": plan.lead,
            "ends": [value_id for aside in plan.asides if aside.closing for value_id in aside.values],
            "words": {"min": low, "max": high, "target": plan.target_words},
            "register": plan.register,
            "topic": plan.topic,
            "language": ctx.locale.text_language,
            "seed": plan.seed,
        },
        schema=text_schema("text"),
        item_id=str(plan.index),
    )
    passage, refused = await ask(question, ctx, accept, last_resort=lambda data: read_unmarked(data["text"], plan.context_words))
    return replace(item, passage=passage, refused=item.refused + refused)


def first_value(item: Item) -> ItemValue | None:
    """Draw the value that should come first: one of the opening aside, else one whose relevance is the plan's ``lead``; None if none."""
    opening = [value_id for aside in item.plan.asides if aside.opening for value_id in aside.values]
    fitting = [value for value in item.values if (value.id in opening if opening else value.relevance == item.plan.lead)]
    return derive_rng("first value", item.plan.seed).choice(fitting) if fitting else None


STAGE = Stage(name=NAME, templates=("paraphrase",), run=run)
