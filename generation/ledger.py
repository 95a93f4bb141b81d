"""Stage of the recipe ``case``: questions with ledgers, which say for each value what of the advice it would change.

In: an item with a case. Out: the questions of its text, each with a line for every value, and the item's values high or low as the
ledger of its own question has it. No line, no "high". Asked for once a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from piiloom.generation.asking import Ask, Fault, ask
from piiloom.generation.item import Case, Item, ItemValue, LedgerLine, LedgerQuestion
from piiloom.generation.sheet import by_id
from piiloom.generation.stage import ItemRejected, Stage, StageContext
from piiloom.generation.texts import check_no_meta, value_variables

NAME = "ledger"
_LINE: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "swapped_for": {"type": "string"},
        "change": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["id", "swapped_for", "change"],
    "additionalProperties": False,
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"question": {"type": "string"}, "ledger": {"type": "array", "items": _LINE}},
                "required": ["question", "ledger"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["questions"],
    "additionalProperties": False,
}


class LedgerStage:
    """Asks for the questions of a text and what each of them turns on."""

    name = NAME
    templates = ("case_questions",)

    async def run(self, item: Item, ctx: StageContext) -> Item:
        """Give the item the questions of its text, and its values the relevance that its own question gives them."""
        case = item.case
        if case is None:
            raise ItemRejected("out_of_order", "the item has no case yet", stage=NAME)
        key, among = f"{NAME} {item.plan.text_name}", item.plan.records
        questions, refused = await ctx.shared.once(key, lambda: _asked(item, case, ctx), among=among)
        return labelled(replace(item, case=replace(case, questions=questions), refused=item.refused + refused))


def labelled(item: Item) -> Item:
    """*item* with its values high where the ledger of its question has a line for them, and the reasons as its rationale."""
    assert item.case is not None  # noqa: S101 - its callers have made it
    question = item.case.questions[item.plan.share.number if item.plan.share else 0]
    values = tuple(replace(value, relevance="high" if value.id in question.deciding else "low") for value in item.values)
    changes = {line.value: line.change for line in question.ledger}
    rationale = "; ".join(f"{value.text} ({value.entity_type}): {changes[value.id]}" for value in values if value.relevance == "high")
    return replace(item, values=values, rationale=rationale or None)


async def redone(item: Item, objections: Sequence[tuple[str, str]], ctx: StageContext) -> tuple[LedgerQuestion, int]:
    """Another question for the item alone; *objections* are ids of values with what a judge said against their labels."""
    case = item.case
    assert case is not None  # noqa: S101 - its callers have looked
    number = item.plan.share.number if item.plan.share else 0
    decision = case.decisions[number % len(case.decisions)]
    known = {value.id: value for value in item.values}
    told = [{"text": known[name].text, "label": known[name].relevance, "said": said} for name, said in objections]
    more = {"before": case.questions[number].draft, "objections": told}
    asked = _ask(item, replace(case, decisions=(decision,)), 1, f"{item.plan.index}/again", more, ctx)
    (question,), refused = await ask(asked, ctx, lambda data: _read(data["questions"], item.values, 1))
    return question, refused


async def _asked(item: Item, case: Case, ctx: StageContext) -> tuple[tuple[LedgerQuestion, ...], int]:
    wanted = item.plan.records
    asked = _ask(item, case, wanted, item.plan.text_name, {"before": None, "objections": []}, ctx)
    return await ask(asked, ctx, lambda data: _read(data["questions"], item.values, wanted))


def _ask(item: Item, case: Case, count: int, item_id: str, more: Mapping[str, Any], ctx: StageContext) -> Ask:
    return Ask(
        stage=NAME,
        template="case_questions",
        variables={
            "situation": case.situation,
            "decisions": list(case.decisions),
            "values": [{**known, "use": case.uses.get(known["id"], "it was told, too")} for known in value_variables(item.values, ctx)],
            "count": count,
            **more,
            "language": ctx.locale.language_name,
            "seed": item.plan.seed,
        },
        schema=SCHEMA,
        item_id=item_id,
    )


def _read(entries: Sequence[Mapping[str, Any]], values: Sequence[ItemValue], wanted: int) -> tuple[LedgerQuestion, ...]:
    if len(entries) != wanted:
        raise Fault("questions", f"there are {len(entries)} questions; {wanted} {'is' if wanted == 1 else 'are'} wanted")
    questions = tuple(_question(entry, values) for entry in entries)
    for one, other in combinations(questions, 2):
        if len(one.deciding & other.deciding) > 1 or one.deciding == other.deciding:
            raise Fault("same_facts", "the questions must turn on different facts: at most one fact may have a change under both")
    return questions


def _question(entry: Mapping[str, Any], values: Sequence[ItemValue]) -> LedgerQuestion:
    text = " ".join(entry["question"].split())
    if not text.endswith(("?", "？", "؟")):
        raise Fault("not_a_question", "each question must end with a question mark")
    check_no_meta(text)
    lines = by_id(entry["ledger"], values)
    ledger = tuple(
        LedgerLine(
            value=value.id,
            swapped_for=" ".join(lines[value.id]["swapped_for"].split()),
            change=" ".join((lines[value.id]["change"] or "").split()) or None,
        )
        for value in values
    )
    question = LedgerQuestion(draft=text, ledger=ledger)
    most = max(1, (len(values) + 1) // 2)
    if not question.deciding:
        raise Fault("nothing_decides", "under each question at least one fact must change the advice")
    if len(question.deciding) > most:
        raise Fault("too_broad", f"{len(question.deciding)} facts change the advice; at most {most} may: ask something narrower")
    return question


STAGE: Stage = LedgerStage()

if __name__ == "__main__":
    from piiloom.generation.stage_command import main

    main(NAME)
