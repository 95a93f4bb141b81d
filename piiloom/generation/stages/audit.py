"""Stage of the recipe ``case``: what else is personal in a text and its questions becomes a value, or is put otherwise.

In: an item with passage and question. Out: the same with a value for each piece of personal information that nobody had listed, high or
low as a ledger of its own says. A question that gives something away is asked for once more. Asked for once a text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from piiloom.corpus.alignment import locate_reply
from piiloom.generation.item import Item, ItemValue, LedgerLine, LedgerQuestion, Question
from piiloom.generation.stage import Fault, ItemRejected, PromptRequest, Stage, StageContext, ask, objects_schema
from piiloom.generation.stages.abstraction import Asked, abstracted, check_put
from piiloom.generation.stages.ledger import LINE_PROPERTIES, labelled, read_line
from piiloom.generation.stages.sheet import MOST_MORE
from piiloom.generation.stages.texts import SENTENCE_END, check_kind, value_variables

NAME = "audit"
TEXT = "text"
_STRING = {"type": "string"}
# "tells" (what each stretch of text says) comes first: a model that must summarize every stretch overlooks less.
MISSED = objects_schema(
    "missed",
    {"where": _STRING, "quote": _STRING, "kind": _STRING, "holder": _STRING},
    tells={"type": "array", "items": _STRING},
)
_LONG_STRETCH = 24  # words; longer sentences are cut, since dictated texts have few full stops
LINES = objects_schema("lines", {"question": {"type": "integer"}, **LINE_PROPERTIES})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Missed:
    """Unlisted personal information: values found in the text, and words found in questions, by question number (from 0)."""

    values: tuple[ItemValue, ...]
    words: Mapping[int, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Audited:
    values: tuple[ItemValue, ...]
    questions: tuple[LedgerQuestion, ...]
    again: Mapping[int, Asked]
    refused: int


async def run(item: Item, ctx: StageContext) -> Item:
    """Return the item with the missed values added; raises ``ItemRejected`` if its question leaks and no other wording is valid."""
    case, plan = item.case, item.plan
    if case is None or item.passage is None or item.question is None:
        raise ItemRejected("out_of_order", "the item has no question yet", stage=NAME)
    found = await ctx.shared.once(f"{NAME} {plan.text_name}", lambda: _audited(item, ctx), among=plan.records)
    question, refused = item.question, item.refused + found.refused
    again = found.again.get(plan.share.number if plan.share else 0)
    if isinstance(again, ItemRejected):
        raise again
    if again is not None:
        question, refused = Question(draft=question.draft, personal=question.personal, abstracted=again[0]), refused + again[1]
    other = sorted({value.entity_type for value in found.values if not ctx.config.narrowing.allows(value.entity_type)})
    if other:
        raise ItemRejected("other_type", f"the text holds values of {', '.join(other)}", stage=NAME)
    grown = replace(
        item,
        values=(*item.values, *found.values),
        case=replace(case, questions=found.questions),
        question=question,
        refused=refused,
    )
    return labelled(grown)


async def _audited(item: Item, ctx: StageContext) -> _Audited:
    assert item.case is not None  # noqa: S101 - the stage has looked
    missed, refused = await _missed(item, ctx)
    questions = item.case.questions
    if not item.plan.wanted and (missed.values or missed.words):
        raise ItemRejected("personal", "a text without personal data holds some", stage=NAME)
    if missed.values:
        questions, more = await _lines(item, missed.values, ctx)
        refused += more
    grown = replace(item, values=(*item.values, *missed.values))
    again = {
        number: await abstracted(grown, number, question, ctx, avoid=missed.words.get(number, ()))
        for number, question in enumerate(questions)
        if number in missed.words or _tells(grown, question, ctx)
    }
    put = [(number, asked[0]) for number, asked in again.items() if not isinstance(asked, ItemRejected)]
    for number, text in put:
        questions = (*questions[:number], replace(questions[number], put=text), *questions[number + 1 :])
    return _Audited(values=missed.values, questions=questions, again=again, refused=refused)


def _tells(item: Item, question: LedgerQuestion, ctx: StageContext) -> bool:
    """Whether the published wording of *question* leaks one of *item*'s values, which are all known now."""
    if question.put is None:
        return False
    try:
        check_put(question.put, item, question, ctx)
    except Fault:
        return True
    return False


async def _missed(item: Item, ctx: StageContext) -> tuple[_Missed, int]:
    assert item.case is not None  # noqa: S101 - the stage has looked
    assert item.passage is not None  # noqa: S101
    text = item.passage.text
    put = [question.put or question.draft for question in item.case.questions]

    shown = stretches(text)

    def accept(data: Any) -> _Missed:
        if len(data["tells"]) != len(shown):
            raise Fault("tells", f"there are {len(shown)} stretches of text, and {len(data['tells'])} entries under tells")
        values: list[ItemValue] = []
        words: dict[int, list[str]] = defaultdict(list)
        for entry in data["missed"]:
            place, quote = entry["where"].strip().casefold(), entry["quote"].strip()
            if place != TEXT:
                number = _number(place, len(put))
                if quote.casefold() not in put[number].casefold():
                    raise Fault("not_in_question", f'"{place}" does not hold the words that are quoted of it')
                words[number].append(quote)
                continue
            found = locate_reply(text, quote)
            if found is None:
                raise Fault("not_in_text", "a quote must be copied from the text character by character, whole words only")
            surface = text[found[0] : found[1]]
            if any(surface.casefold() in value.text.casefold() for value in (*item.values, *values)):
                continue  # already listed
            check_kind(entry["kind"], ctx)
            name = f"v{len(item.plan.wanted) + MOST_MORE + len(values) + 1}"
            holder = " ".join(entry["holder"].split()).casefold() or "self"
            values.append(ItemValue(id=name, entity_type=entry["kind"], subtype=None, text=surface, relevance="low", subject=holder))
        return _Missed(values=tuple(values), words={number: tuple(found) for number, found in words.items()})

    question = PromptRequest(
        stage=NAME,
        template="case_audit",
        variables={
            "post": text,
            "stretches": shown,
            "questions": put,
            "values": [{"text": value.text} for value in item.values],
            "kinds": list(ctx.taxonomy.types),
            "language": ctx.locale.language_name,
            "seed": item.plan.seed,
        },
        schema=MISSED,
        item_id=item.plan.text_name,
    )
    return await ask(question, ctx, accept)


def stretches(text: str) -> list[str]:
    """Split *text* into its lines and sentences; sentences much longer than ``_LONG_STRETCH`` words are cut. No word is lost."""
    lines = [line for line in text.splitlines() if line.strip()]
    sentences = [piece for line in lines for piece in _sentences(line)]
    return [piece for sentence in sentences for piece in _cut(sentence)]


def _sentences(line: str) -> list[str]:
    ends = [0, *(found.end() for found in SENTENCE_END.finditer(line)), len(line)]
    return [line[start:end].strip() for start, end in pairwise(ends) if line[start:end].strip()]


def _cut(sentence: str) -> list[str]:
    words = sentence.split()
    parts = max(1, round(len(words) / _LONG_STRETCH))
    bounds = [len(words) * number // parts for number in range(parts + 1)]
    return [" ".join(words[start:end]) for start, end in pairwise(bounds)]


def _number(place: str, questions: int) -> int:
    """Return the number (from 0) of the question that *place* names, as in "question 2"; raises ``Fault`` if there is none."""
    _, _, number = place.partition("question ")
    if not number.isdecimal() or not 1 <= int(number) <= questions:
        raise Fault("unknown_place", f'"{place}" is neither "text" nor one of the {questions} questions')
    return int(number) - 1


async def _lines(item: Item, new: Sequence[ItemValue], ctx: StageContext) -> tuple[tuple[LedgerQuestion, ...], int]:
    """Ask for ledger lines for the *new* values; returns the questions with these lines, and the number of refused replies."""
    assert item.case is not None  # noqa: S101 - the stage has looked
    questions = item.case.questions
    wanted = {(number, value.id) for number in range(len(questions)) for value in new}

    def accept(data: Any) -> tuple[LedgerQuestion, ...]:
        found: dict[tuple[int, str], LedgerLine] = {}
        for line in data["lines"]:
            key = (line["question"] - 1, line["id"])
            if key not in wanted or key in found:
                raise Fault("wrong_line", f"there is a line too many for question {line['question']} and {line['id']}")
            found[key] = read_line(line["id"], line)
        if len(found) < len(wanted):
            raise Fault("incomplete", f"{len(wanted)} lines are wanted: one for each question and fact")
        return tuple(
            replace(question, ledger=(*question.ledger, *(found[number, value.id] for value in new)))
            for number, question in enumerate(questions)
        )

    question = PromptRequest(
        stage=NAME,
        template="case_ledger",
        variables={
            "post": item.passage.text if item.passage else "",
            "questions": [asked.put or asked.draft for asked in questions],
            "values": value_variables(new, ctx),
            "language": ctx.locale.language_name,
            "seed": item.plan.seed,
        },
        schema=LINES,
        item_id=item.plan.text_name,
    )
    return await ask(question, ctx, accept)


STAGE = Stage(name=NAME, templates=("case_audit", "case_ledger"), run=run)
