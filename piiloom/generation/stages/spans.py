"""Stage 8: exact spans for every mention of every value.

In: an item with a passage. Out: its spans. The ladder: inline marks, exact whole words, normalised, fuzzy
(``piiloom.corpus.alignment``), then the model is asked for the closest span, then the item is rejected. A model's answer counts
only when it is a whole-word substring of the passage and not another value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from piiloom.corpus.alignment import BROKEN_MARK, Located, MarkedText, Unresolved, ValueAlignment, align, locate_reply
from piiloom.corpus.record import Span
from piiloom.foundation.words import content_words, count_words
from piiloom.generation.item import Item, ItemValue
from piiloom.generation.stage import Fault, ItemRejected, PromptRequest, Stage, StageContext, ask, text_schema
from piiloom.generation.stages.texts import targets_of, value_variables

NAME = "spans"
# Reasons for which asking the model is pointless: the text is damaged, or longer values cover every mention.
HOPELESS = frozenset({"broken_mark", "overlap", "empty"})
# How many words longer than the value a span from the model may be.
SPARE_WORDS = 4


async def run(item: Item, ctx: StageContext) -> Item:
    """Return the item with its spans; raises ``ItemRejected`` if a value has no exact span."""
    passage = item.passage
    if passage is None:
        raise ItemRejected("out_of_order", "the item has no passage yet", stage=NAME)
    if BROKEN_MARK.search(passage.text):
        raise ItemRejected("broken_mark", "the passage holds a damaged mark", stage=NAME)
    surfaces = {value.id: value.text for value in item.values}
    alignment = _aligned(passage, surfaces, item, ctx)
    for unresolved in alignment.unresolved:
        if unresolved.reason in HOPELESS:
            raise _rejected(unresolved, item)
    refused = 0
    for unresolved in alignment.unresolved:
        surfaces[unresolved.value_id], again = await _retrieve(unresolved, item, passage.text, ctx)
        refused += again
    if alignment.unresolved:
        alignment = _aligned(passage, surfaces, item, ctx)
        for still in alignment.unresolved:
            raise _rejected(still, item)
    spans = tuple(_span(number, located, item) for number, located in enumerate(alignment.spans, 1))
    return replace(item, spans=spans, refused=item.refused + refused)


async def _retrieve(unresolved: Unresolved, item: Item, text: str, ctx: StageContext) -> tuple[str, int]:
    value = item.value(unresolved.value_id)

    def accept(data: Any) -> str | None:
        return None if data["span"] is None else _read_span(data["span"], text, value)

    question = PromptRequest(
        stage=NAME,
        template="span_retrieval",
        variables={
            "value": value_variables([value], ctx)[0],
            "text": text,
            "language": ctx.locale.language_name,
            "seed": item.plan.seed,
        },
        schema=text_schema("span", nullable=True),
        item_id=f"{item.plan.index}/{value.id}",
    )
    surface, refused = await ask(question, ctx, accept)
    if surface is None:
        raise _rejected(unresolved, item, attempts=refused + 1)
    return surface, refused


def _read_span(reply: str, text: str, value: ItemValue) -> str:
    """Return the words of *text* that *reply* quotes; raises ``Fault`` if they are not in it or are too long to be *value* alone."""
    place = locate_reply(text, reply)
    if place is None:
        raise Fault("not_in_text", "it must be copied from the text character by character, whole words only")
    surface = text[place[0] : place[1]]
    if not content_words(surface) or count_words(surface) > count_words(value.text) + SPARE_WORDS:
        raise Fault("not_a_value", "it must be the shortest stretch of the text that states the fact, and nothing else")
    return surface


def _aligned(passage: MarkedText, surfaces: Mapping[str, str], item: Item, ctx: StageContext) -> ValueAlignment:
    wanted = (replace(value, text=surfaces[value.id]) for value in item.values)
    return align(passage.text, passage.mentions, targets_of(wanted, inflects=ctx.locale.inflects))


def _rejected(unresolved: Unresolved, item: Item, *, attempts: int = 0) -> ItemRejected:
    value: ItemValue = item.value(unresolved.value_id)
    detail = f"no exact span for value {value.id} ({value.entity_type}): {unresolved.reason}"
    passage = item.passage.text if item.passage else None
    return ItemRejected(f"value_{unresolved.reason}", detail, stage=NAME, attempts=attempts, last_reply=passage)


def _span(number: int, located: Located, item: Item) -> Span:
    value = item.value(located.value_id)
    return Span(
        id=f"s{number}",
        start=located.start,
        end=located.end,
        entity_type=value.entity_type,
        relevance=value.relevance,
        subtype=value.subtype,
        value_id=value.id,
        subject=value.subject,
    )


STAGE = Stage(name=NAME, templates=("span_retrieval",), run=run)
