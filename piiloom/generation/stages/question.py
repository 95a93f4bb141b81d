"""Stage 6: the question, in three steps: a draft, the same in the writer's voice, and one that gives nothing away.

In: an item with a situation. Out: draft, personal and abstracted question; the record carries the last. The abstracted
one is held against the same gate that screens finished records: no value, no type word, no content word of a value
that matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from piiloom.corpus.record import Record
from piiloom.generation.item import Item, ItemValue, Question
from piiloom.generation.stage import Fault, ItemRejected, PromptRequest, Stage, StageContext, ask, text_schema
from piiloom.generation.stages.texts import check_first_person, read_question, value_variables
from piiloom.screening.gates import Expectations, ExpectedValue, QuestionLeaksGate
from piiloom.taxonomy.entity_types import Pair, Taxonomy

NAME = "question"


async def run(item: Item, ctx: StageContext) -> Item:
    """Return the item with its question; raises ``ItemRejected`` if it has no situation yet."""
    if item.situation is None:
        raise ItemRejected("out_of_order", "the item has no situation yet", stage=NAME)
    situation = item.situation.text
    draft, first = await _step("question_draft", {"situation": situation, "types": list(item.plan.pair)}, item, ctx)
    personal, second = await _step("question_personal", {"situation": situation, "draft": draft}, item, ctx)
    known: dict[str, Any] = {"situation": situation, "personal": personal, "asides": [aside.text for aside in item.peripheral]}
    known |= {"subtopic": item.plan.subtopic, "topic": item.plan.topic, "cue_level": item.plan.cue_level}
    abstracted, third = await _step("question_abstracted", known, item, ctx)
    question = Question(draft=draft, personal=personal, abstracted=abstracted)
    return replace(item, question=question, refused=item.refused + first + second + third)


async def _step(template: str, known: dict[str, Any], item: Item, ctx: StageContext) -> tuple[str, int]:
    plan = item.plan

    def accept(data: Any) -> str:
        text = read_question(data["question"], plan.question_words)
        if template == "question_personal":
            check_first_person(text, ctx.locale.language)
        if template == "question_abstracted":
            check_leaks(text, item.plan.pair, item.values, ctx)
        return text

    question = PromptRequest(
        stage=NAME,
        template=template,
        variables={
            **known,
            "scenario": plan.scenario,
            "pair": list(plan.pair),
            "values": value_variables(item.high_values(), ctx),
            "others": [value.text for value in item.values if value.relevance == "low"],
            "language": ctx.locale.language_name,
            "seed": plan.seed,
        },
        schema=text_schema("question"),
        item_id=str(plan.index),
    )
    return await ask(question, ctx, accept)


def check_leaks(text: str, pair: Pair, values: Sequence[ItemValue], ctx: StageContext, common_words: frozenset[str] = frozenset()) -> None:
    """Raise ``Fault`` if the question *text* leaks something that the screening gate for question leaks would find.

    *common_words* are words that this gate ignores.
    """
    expected = Expectations(
        pair=pair,
        values=tuple(ExpectedValue(id=v.id, text=v.text, entity_type=v.entity_type, relevance=v.relevance) for v in values),
    )
    verdict = _leaks_gate(ctx.taxonomy, common_words, not ctx.locale.has_word_lists).check(
        Record(id="question", context="", question=text), expected
    )
    if verdict is not None:
        raise Fault(verdict.code, verdict.detail)


@lru_cache(maxsize=4)
def _leaks_gate(taxonomy: Taxonomy, common_words: frozenset[str], whole_values: bool) -> QuestionLeaksGate:
    words = {name: kind.type_words for name, kind in taxonomy.types.items()}
    return QuestionLeaksGate(words, common_words=common_words, whole_values=whole_values)


STAGE = Stage(name=NAME, templates=("question_draft", "question_personal", "question_abstracted"), run=run)
