"""Stage 4: the sentence that states the problem.

In: an item with values. Out: one first-person sentence of ``situation_words`` words that holds every high-relevance
value verbatim, its marks stripped into offsets.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from corpus.marks import MarkedText
from generation.asking import Ask, ask
from generation.item import Item
from generation.stage import Stage, StageContext, text_schema
from generation.texts import read_sentence, value_variables

NAME = "situation"


class SituationStage:
    """Asks for the sentence with the values that matter."""

    name = NAME
    templates = ("situation",)

    async def run(self, item: Item, ctx: StageContext) -> Item:
        """Give the item its situation."""
        plan, values = item.plan, item.high_values()

        def accept(data: Any) -> MarkedText:
            return read_sentence(data["text"], values, plan.situation_words, ctx.locale.language)

        low, high = plan.situation_words
        question = Ask(
            stage=NAME,
            template="situation",
            variables={
                "topic": plan.topic,
                "subtopic": plan.subtopic,
                "scenario": plan.scenario,
                "values": value_variables(values),
                "words": {"min": low, "max": high},
                "register": plan.register,
                "language": ctx.locale.language_name,
                "seed": plan.seed,
            },
            schema=text_schema("text"),
            item_id=str(plan.index),
        )
        sentence, refused = await ask(question, ctx, accept)
        return replace(item, situation=sentence, refused=item.refused + refused)


STAGE: Stage = SituationStage()

if __name__ == "__main__":
    from generation.stage_command import main

    main(NAME)
