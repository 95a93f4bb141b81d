"""Stage of the recipe ``case``: the whole post, written by somebody who does not know which values matter.

In: an item with a case. Out: its text, in which every value stands unchanged. Asked for once a text; the length to aim at is the plan's,
but never shorter than its facts need.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from piiloom.corpus.marks import MarkedText, strip_marks
from piiloom.generation.item import Case, Item
from piiloom.generation.stage import ItemRejected, Stage, StageContext, text_schema
from piiloom.generation.stages.asking import PromptRequest, ask
from piiloom.generation.stages.sheet import shape_of
from piiloom.generation.stages.texts import check_first_person, check_length, read_marked, value_variables
from piiloom.taxonomy.registers import SECOND_HAND

NAME = "post"
# Fewest words per fact (with those around it), per identifier, which may fill a line of its own, and for the rest of the text.
WORDS_A_FACT, WORDS_AN_IDENTIFIER, WORDS_BESIDE = 15, 4, 15


class PostStage:
    """Asks for the text."""

    name = NAME
    templates = ("case_post",)

    async def run(self, item: Item, ctx: StageContext) -> Item:
        """Return the item with its passage."""
        case = item.case
        if case is None:
            raise ItemRejected("out_of_order", "the item has no case yet", stage=NAME)
        key, among = f"{NAME} {item.plan.text_name}", item.plan.records
        passage, refused = await ctx.shared.once(key, lambda: _asked(item, case, ctx), among=among)
        return replace(item, passage=passage, refused=item.refused + refused)


async def _asked(item: Item, case: Case, ctx: StageContext) -> tuple[MarkedText, int]:
    plan, shape = item.plan, shape_of(item)
    needed = (WORDS_AN_IDENTIFIER if value.id in shape.carried else WORDS_A_FACT for value in item.values)
    target = max(plan.target_words, WORDS_BESIDE + sum(needed))
    band = (target * 2 // 3, target * 3 // 2 + 30)

    def accept(data: Any) -> MarkedText:
        passage = read_marked(data["text"], item.values)
        check_length(passage.text, band)
        if plan.register != SECOND_HAND and not shape.impersonal:
            check_first_person(passage.text, ctx.locale.language)
        return passage

    def leave_to_repair(data: Any) -> MarkedText:
        check_length(strip_marks(data["text"]).text, band)
        return strip_marks(data["text"].strip())

    blind = [
        {key: text for key, text in variables.items() if key != "relevance"} | {"use": case.uses[variables["id"]]}
        for variables in value_variables(item.values, ctx)
    ]
    question = PromptRequest(
        stage=NAME,
        template="case_post",
        variables={
            "situation": case.situation,
            "questions": [question.draft for question in case.questions],
            "untold": list(case.untold),
            "values": blind,
            "words": {"min": band[0], "max": band[1], "target": target},
            "register": plan.register,
            "second_hand": plan.register == SECOND_HAND,
            "shape": asdict(shape),
            "language": ctx.locale.language_name,
            "seed": plan.seed,
        },
        schema=text_schema("text"),
        item_id=plan.text_name,
    )
    return await ask(question, ctx, accept, last_resort=leave_to_repair)


STAGE: Stage = PostStage()
