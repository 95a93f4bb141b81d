"""Stage of the recipe ``case``: each question of a text, put so that it needs the text.

In: an item with a passage and the questions that were thought up. Out: its own question, abstracted: it points into the text and holds no
value, no word of a value that matters to it and no type word. A draft for which that holds already stays. All questions of a text are
asked for at once, so that the audit sees them together; one that cannot be had costs its own record only.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from piiloom.generation.item import Item, LedgerQuestion, Question
from piiloom.generation.stage import Fault, ItemRejected, PromptRequest, Stage, StageContext, ask, text_schema
from piiloom.generation.stages.question import check_leaks
from piiloom.generation.stages.texts import read_question, value_variables
from piiloom.screening.gates import ANYBODYS, telling_words

NAME = "abstraction"
Asked = tuple[str, int] | ItemRejected  # (question, number of refused replies), or the rejection


async def run(item: Item, ctx: StageContext) -> Item:
    """Return the item with its question; raises ``ItemRejected`` if its own question got no valid wording."""
    if not item.plan.wanted:
        return item  # a text without personal data, which the stage post writes
    case, plan = item.case, item.plan
    if case is None or item.passage is None or not case.questions:
        raise ItemRejected("out_of_order", "the item has no passage yet", stage=NAME)

    async def all_of_them() -> list[Asked]:
        return [await abstracted(item, number, question, ctx) for number, question in enumerate(case.questions)]

    found = await ctx.shared.once(f"{NAME} {plan.text_name}", all_of_them, among=plan.records)
    number = plan.share.number if plan.share else 0
    own = found[number]
    if isinstance(own, ItemRejected):
        raise own
    put = tuple(replace(q, put=None if isinstance(f, ItemRejected) else f[0]) for q, f in zip(case.questions, found, strict=True))
    question = Question(draft=case.questions[number].draft, personal=case.questions[number].draft, abstracted=own[0])
    return replace(item, case=replace(case, questions=put), question=question, refused=item.refused + own[1])


async def abstracted(item: Item, number: int, question: LedgerQuestion, ctx: StageContext, *, avoid: Sequence[str] = ()) -> Asked:
    """Return a wording of question *number* of the text that does not name the values it turns on: its draft if that does not, or asks.

    *avoid*: words that leaked something before. A rejection is returned, not raised.
    """
    plan = item.plan
    deciding = [value for value in item.values if value.id in question.deciding]
    if ctx.locale.has_word_lists:
        words = [word for value in deciding for word in telling_words(value.text)]
        words += [word for kind in plan.pair for word in ctx.taxonomy.get(kind).type_words]
    else:
        words = [value.text for value in deciding]

    def checked(wording: str) -> str:
        text = read_question(wording, plan.question_words)
        check_put(text, item, question, ctx)
        if said := [one for one in avoid if one.casefold() in text.casefold()]:
            raise Fault("gives_away", f'it still says "{said[0]}"')
        return text

    with suppress(Fault):  # that of a draft that names what must not be learnt from it
        return checked(question.draft), 0
    asked = PromptRequest(
        stage=NAME,
        template="case_question",
        variables={
            "post": item.passage.text if item.passage else "",
            "draft": question.draft,
            "banned": sorted({*words, *avoid}),
            "verbatim": [value.text for value in item.values if value not in deciding],
            "values": [*value_variables(deciding, ctx), *({"text": words, "type": "of the writer"} for words in avoid)],
            "language": ctx.locale.language_name,
            "seed": plan.seed,
        },
        schema=text_schema("question"),
        item_id=f"{plan.text_name}/{number}",
    )
    try:
        return await ask(asked, ctx, lambda data: checked(data["question"]))
    except ItemRejected as rejection:
        return rejection


def check_put(text: str, item: Item, question: LedgerQuestion, ctx: StageContext) -> None:
    """Raise ``Fault`` if *text*, the published wording of *question*, leaks something that the screening gate would find."""
    values = [replace(value, relevance="high" if value.id in question.deciding else "low") for value in item.values]
    check_leaks(text, item.plan.pair, values, ctx, ANYBODYS)


STAGE = Stage(name=NAME, templates=("case_question",), run=run)
