"""Stage of the recipe ``case``: the whole post, written by somebody who does not know which values matter.

In: an item with a case. Out: its text, in which every value stands unchanged. Asked for once a text; the length to aim at is the plan's,
but never shorter than its facts need.

If the plan wants no values, the text has no personal data: it is asked for together with its questions and look-alikes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from piiloom.corpus.alignment import MarkedText
from piiloom.generation.item import Case, Item, LedgerQuestion, Question
from piiloom.generation.stage import Fault, ItemRejected, PromptRequest, Stage, StageContext, ask, text_schema
from piiloom.generation.stages.sheet import text_shape_of
from piiloom.generation.stages.texts import (
    check_first_person,
    check_length,
    check_no_meta,
    read_marked,
    read_question,
    read_unmarked,
    value_variables,
)
from piiloom.taxonomy.stories import LOOKALIKES
from piiloom.taxonomy.text_shapes import SECOND_HAND

NAME = "post"
# Fewest words per fact (with those around it), per identifier, which may fill a line of its own, and for the rest of the text.
WORDS_A_FACT, WORDS_AN_IDENTIFIER, WORDS_BESIDE = 15, 4, 15
_STRING = {"type": "string"}
_LIKE: Mapping[str, Any] = {
    "type": "object",
    "properties": {"kind": {"type": "string", "enum": list(LOOKALIKES)}, "text": _STRING},
    "required": ["kind", "text"],
    "additionalProperties": False,
}
PLAIN: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "text": _STRING,
        "questions": {"type": "array", "items": _STRING},
        "lookalikes": {"type": "array", "items": _LIKE},
    },
    "required": ["text", "questions", "lookalikes"],
    "additionalProperties": False,
}


async def run(item: Item, ctx: StageContext) -> Item:
    """Return the item with its passage; if it has no personal data, also with its question."""
    case = item.case
    key, among = f"{NAME} {item.plan.text_name}", item.plan.records
    if not item.plan.wanted:
        plain, refused = await ctx.shared.once(key, lambda: _plain(item, ctx), among=among)
        own = plain.questions[item.plan.share.number if item.plan.share else 0]
        case = Case(situation="", decisions=(), uses={}, struck={}, questions=plain.questions)
        question = Question(draft=own.draft, personal=own.draft, abstracted=own.draft)
        told = replace(item, case=case, question=question, passage=MarkedText(text=plain.text, mentions=()))
        return replace(told, lookalikes=plain.lookalikes, refused=item.refused + refused)
    if case is None:
        raise ItemRejected("out_of_order", "the item has no case yet", stage=NAME)
    passage, refused = await ctx.shared.once(key, lambda: _asked(item, case, ctx), among=among)
    return replace(item, passage=passage, refused=item.refused + refused)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    text: str
    questions: tuple[LedgerQuestion, ...]
    lookalikes: tuple[tuple[str, str], ...]


async def _plain(item: Item, ctx: StageContext) -> tuple[_Plain, int]:
    """Ask for a text without personal data; returns it and the number of refused replies."""
    plan = item.plan
    band = (plan.target_words * 2 // 3, plan.target_words * 3 // 2 + 30)

    def accept(data: Any) -> _Plain:
        text = data["text"].strip()
        check_length(text, band)
        check_no_meta(text)
        questions = tuple(dict.fromkeys(read_question(asked, plan.question_words) for asked in data["questions"]))
        if len(questions) != plan.records:
            raise Fault("questions", f"there are {len(questions)} different questions; {plan.records} are wanted")
        lookalikes = tuple((one["kind"], one["text"]) for one in data["lookalikes"])
        if any(kind not in LOOKALIKES or like not in text for kind, like in lookalikes):
            raise Fault("lookalikes", "each look-alike is of a kind of the list and copied from the text character by character")
        return _Plain(text=text, questions=tuple(LedgerQuestion(draft=one, ledger=(), put=one) for one in questions), lookalikes=lookalikes)

    question = PromptRequest(
        stage=NAME,
        template="case_plain",
        variables={
            "kinds": LOOKALIKES,
            "words": {"min": band[0], "max": band[1]},
            "count": plan.records,
            "register": plan.register,
            "shape": asdict(text_shape_of(item)),
            "subtopic": plan.subtopic,
            "language": ctx.locale.language_name,
            "seed": plan.seed,
        },
        schema=PLAIN,
        item_id=plan.text_name,
    )
    return await ask(question, ctx, accept)


async def _asked(item: Item, case: Case, ctx: StageContext) -> tuple[MarkedText, int]:
    plan, shape = item.plan, text_shape_of(item)
    needed = (WORDS_AN_IDENTIFIER if value.id in shape.carried else WORDS_A_FACT for value in item.values)
    target = max(plan.target_words, WORDS_BESIDE + sum(needed))
    band = (target * 2 // 3, target * 3 // 2 + 30)

    def accept(data: Any) -> MarkedText:
        passage = read_marked(data["text"], item.values, inflects=ctx.locale.inflects)
        check_length(passage.text, band)
        if plan.register != SECOND_HAND and not shape.impersonal:
            check_first_person(passage.text, ctx.locale.language)
        return passage

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
            "language": ctx.locale.text_language,
            "seed": plan.seed,
        },
        schema=text_schema("text"),
        item_id=plan.text_name,
    )
    return await ask(question, ctx, accept, last_resort=lambda data: read_unmarked(data["text"], band))


STAGE = Stage(name=NAME, templates=("case_post", "case_plain"), run=run)
