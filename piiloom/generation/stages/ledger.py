"""Stage of the recipe ``case``: questions with ledgers, which say for each value what of the advice it would change.

In: an item with a case. Out: the questions of its text, each with a line for every value, and the item's values high or low as the
ledger of its own question has it. No line, no "high". Asked for once a text.

More questions are asked for than a text has, and those are taken whose ledgers leave least to dispute. A value that would change one
point of the advice among several could be called high or low with equal right: it is struck, so that the text does not tell it, unless
another question turns on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any

from piiloom.foundation.words import content_words
from piiloom.generation.item import MAIN, NOTHING, ONE_POINT, Case, Item, ItemValue, LedgerLine, LedgerQuestion
from piiloom.generation.stage import Fault, ItemRejected, PromptRequest, Stage, StageContext, ask
from piiloom.generation.stages.sheet import FEWEST_VALUES, by_id, text_shape_of
from piiloom.generation.stages.texts import check_no_meta, value_variables

NAME = "ledger"
WEIGHTS = (NOTHING, ONE_POINT, MAIN)
DISPUTABLE = "changes one point of the advice among several: readers might give it either label"
CANDIDATES = 2  # number of questions asked for per question of a text
LINE_PROPERTIES: Mapping[str, Any] = {
    "id": {"type": "string"},
    "swapped_for": {"type": "string"},
    "change": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "weight": {"type": "string", "enum": list(WEIGHTS)},
}
_LINE: Mapping[str, Any] = {
    "type": "object",
    "properties": LINE_PROPERTIES,
    "required": list(LINE_PROPERTIES),
    "additionalProperties": False,
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "decision": {"type": "integer"},
                    "question": {"type": "string"},
                    "ledger": {"type": "array", "items": _LINE},
                },
                "required": ["decision", "question", "ledger"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["questions"],
    "additionalProperties": False,
}


async def run(item: Item, ctx: StageContext) -> Item:
    """Return the item with its text's questions, its values labeled by its own question's ledger, and disputable values removed."""
    if not item.plan.wanted:
        return item  # a text without personal data, which the stage post writes
    case = item.case
    if case is None:
        raise ItemRejected("out_of_order", "the item has no case yet", stage=NAME)
    key, among = f"{NAME} {item.plan.text_name}", item.plan.records
    questions, refused = await ctx.shared.once(key, lambda: _asked(item, case, ctx), among=among)
    asked = replace(item, case=replace(case, questions=questions), refused=item.refused + refused)
    told = without_disputable(asked, ctx.config.narrowing.kinds)
    return labelled(told)


def without_disputable(item: Item, kinds: frozenset[str] = frozenset()) -> Item:
    """Return *item* without values that are disputable under some question and deciding under none.

    A value stays if only ``FEWEST_VALUES`` are left, if it is the last one of a type of the pair or of the subtypes *kinds*, or if it is
    the tie to a person of whom other values tell: without it nobody knows who that is. So does a value that a question names.
    """
    case = item.case
    assert case is not None  # noqa: S101 - its caller has made it
    disputable = frozenset().union(*(question.disputable for question in case.questions))
    deciding = frozenset().union(*(question.deciding for question in case.questions))
    left, struck, untold = list(item.values), dict(case.struck), list(case.untold)
    for value in item.values:
        if value.id not in disputable - deciding or len(left) <= FEWEST_VALUES:
            continue
        others = [other for other in left if other.id != value.id]
        if value.entity_type in item.plan.pair and not any(other.entity_type == value.entity_type for other in others):
            continue
        if value.subtype in kinds and not any(other.subtype in kinds for other in others):
            continue
        if value.entity_type == "relationship" and value.subject != "self" and any(other.subject == value.subject for other in others):
            continue
        if any(_names(question, value) for question in case.questions):
            continue
        left, struck[value.id] = others, DISPUTABLE
        untold.append(value.text)
    kept = {value.id for value in left}
    questions = tuple(
        replace(question, ledger=tuple(line for line in question.ledger if line.value in kept)) for question in case.questions
    )
    return replace(item, values=tuple(left), case=replace(case, struck=struck, questions=questions, untold=tuple(untold)))


def labelled(item: Item) -> Item:
    """Return *item* with its values labeled: high if they decide its own question. The ledger's changes become the rationale."""
    assert item.case is not None  # noqa: S101 - its callers have made it
    question = item.case.questions[item.plan.share.number if item.plan.share else 0]
    values = tuple(replace(value, relevance="high" if value.id in question.deciding else "low") for value in item.values)
    changes = {line.value: line.change for line in question.ledger}
    rationale = "; ".join(f"{value.text} ({value.entity_type}): {changes[value.id]}" for value in values if value.relevance == "high")
    return replace(item, values=values, rationale=rationale or None)


async def _asked(item: Item, case: Case, ctx: StageContext) -> tuple[tuple[LedgerQuestion, ...], int]:
    wanted = item.plan.records
    asked = PromptRequest(
        stage=NAME,
        template="case_questions",
        variables={
            "situation": case.situation,
            "register": item.plan.register,
            "shape": asdict(text_shape_of(item)),
            "decisions": list(case.decisions),
            "values": [{**known, "use": case.uses.get(known["id"], "it was told, too")} for known in value_variables(item.values, ctx)],
            "count": CANDIDATES * wanted,
            "language": ctx.locale.language_name,
            "seed": item.plan.seed,
        },
        schema=SCHEMA,
        item_id=item.plan.text_name,
    )
    return await ask(asked, ctx, lambda data: _read(data["questions"], item.values, wanted, case.decisions))


def _read(
    entries: Sequence[Mapping[str, Any]], values: Sequence[ItemValue], wanted: int, decisions: Sequence[str]
) -> tuple[LedgerQuestion, ...]:
    """Return the *wanted* questions of *entries* with the least to dispute, in their order.

    Raises ``Fault`` if too few are valid, or if no choice of them differs enough in what they turn on.
    """
    fit: list[LedgerQuestion] = []
    faults: list[Fault] = []
    for entry in entries:
        try:
            fit.append(_question(entry, values, decisions))
        except Fault as fault:
            faults.append(fault)
    if len(fit) < wanted:
        raise faults[0] if faults else Fault("questions", f"there are {len(entries)} questions; at least {wanted} are wanted")
    sets = [chosen for chosen in combinations(fit, wanted) if len({one.deciding for one in chosen}) == wanted]
    if not sets:
        raise Fault("same_facts", "all questions turn on exactly the same facts; one of them must need another one")
    return min(sets, key=lambda chosen: _dispute(chosen, values))


def _dispute(questions: Sequence[LedgerQuestion], values: Sequence[ItemValue]) -> tuple[int, int, int, int]:
    """Sort key of a choice of questions, smaller is better.

    Number of disputable values that decide another question (so they must stay), number of questions that share a decision, number of
    questions that name what they turn on, number of disputable values but for one: of questions as good as that, the first is the one that
    its text leads to.
    """
    deciding = frozenset().union(*(question.deciding for question in questions))
    disputable = frozenset().union(*(question.disputable for question in questions))
    shared = len(questions) - len({question.decision for question in questions})
    naming = sum(any(value.id in question.deciding and _names(question, value) for value in values) for question in questions)
    return len(disputable & deciding), shared, naming, max(0, len(disputable) - 1)


def _names(question: LedgerQuestion, value: ItemValue) -> bool:
    return not content_words(value.text).isdisjoint(content_words(question.draft))


def _question(entry: Mapping[str, Any], values: Sequence[ItemValue], decisions: Sequence[str]) -> LedgerQuestion:
    text = " ".join(entry["question"].split())
    if not text.endswith(("?", "？", "؟")):
        raise Fault("not_a_question", "each question must end with a question mark")
    check_no_meta(text)
    number = entry["decision"]
    if not 1 <= number <= len(decisions):
        raise Fault("unknown_decision", f"there is no decision {number}; they are numbered from 1 to {len(decisions)}")
    lines = by_id(entry["ledger"], values)
    question = LedgerQuestion(
        draft=text, ledger=tuple(read_line(value.id, lines[value.id]) for value in values), decision=decisions[number - 1]
    )
    most = most_deciding(len(values))
    if not question.deciding:
        raise Fault("nothing_decides", "under each question at least one fact must change the main advice")
    if len(question.deciding) > most:
        raise Fault("too_broad", f"{len(question.deciding)} facts change the main advice; at most {most} may: ask something narrower")
    return question


def most_deciding(values: int) -> int:
    """Return how many of so many *values* may decide one question: two in three."""
    return max(1, 2 * values // 3)


def read_line(name: str, entry: Mapping[str, Any]) -> LedgerLine:
    """Return the ledger line of the value with id *name*; raises ``Fault`` if its weight and its change contradict each other."""
    change = " ".join((entry["change"] or "").split()) or None
    weight = entry["weight"]
    if (change is None) != (weight == NOTHING):
        raise Fault("weight", f'the line of {name} has the weight "{weight}" and {"no" if change is None else "a"} change')
    return LedgerLine(value=name, swapped_for=" ".join(entry["swapped_for"].split()), change=change, aside=weight == ONE_POINT)


STAGE = Stage(name=NAME, templates=("case_questions",), run=run)
