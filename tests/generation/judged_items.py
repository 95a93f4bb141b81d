"""Finished items for judges, and replies to what a judge asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from piiloom.corpus.alignment import strip_marks
from piiloom.corpus.record import Span
from piiloom.generation.item import Item, ItemValue, Question
from piiloom.providers.protocol import PromptCall
from tests.generation.scripted_provider import POST, VALUES, an_item

QUESTION = "Which rights do I have on a rota like that?"


def a_finished_item(marked: str = POST, values: tuple[ItemValue, ...] = VALUES, question: str = QUESTION, **plan: Any) -> Item:
    """An item as it leaves ``spans``; *marked* holds its mentions in order."""
    passage = strip_marks(marked)
    known = {value.id: value for value in values}
    spans = tuple(
        Span(
            id=f"s{number}",
            start=mention.start,
            end=mention.end,
            entity_type=known[mention.value_id].entity_type,
            relevance=known[mention.value_id].relevance,
            value_id=mention.value_id,
        )
        for number, mention in enumerate(passage.mentions, 1)
    )
    asked = Question(draft=question, personal=question, abstracted=question)
    return replace(an_item(values, **plan), passage=passage, spans=spans, question=asked)


def graded(scores: Mapping[str, int], where: str | None = None) -> Callable[[PromptCall], dict[str, Any]]:
    """Answer each fact with the score of its text; *where* is named from score 2 on."""

    def answer(call: PromptCall) -> dict[str, Any]:
        entries = []
        for fact in call.variables["facts"]:
            score = scores[fact["value"]]
            place = {} if where is None else {"where": where if score >= 2 else "nowhere"}
            entries.append({"id": fact["id"], "reason": f"Because of {fact['value']}.", **place, "score": score})
        return {"judgements": entries}

    return answer
