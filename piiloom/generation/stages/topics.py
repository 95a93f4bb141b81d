"""Stage 1: what people would post about so that both types of a pair matter.

In: a pair of PII types. Out: up to ``topics_per_pair`` topics of one to three words. Runs once a pair, not once an item.
"""

from __future__ import annotations

from typing import Any

from piiloom.generation.stage import StageContext, list_schema
from piiloom.generation.stages.asking import Fault, PromptRequest, ask
from piiloom.generation.stages.phrases import PhraseList, clean_list
from piiloom.taxonomy.entity_types import Pair

NAME = "topics"
TEMPLATES: tuple[str, ...] = ("topics",)


def pair_key(pair: Pair) -> str:
    """Return the key of a pair in the store: ``age+health``."""
    return "+".join(pair)


async def run(pair: Pair, ctx: StageContext) -> PhraseList:
    """Ask for the topics of *pair*; raises ``ItemRejected`` if no reply is usable."""
    count = ctx.config.topics_per_pair if ctx.stories is None else len(ctx.stories.for_pair(pair))  # each story is told

    def accept(data: Any) -> PhraseList:
        if ctx.stories is not None:
            return PhraseList(kept=tuple(data["topics"]))
        topics = clean_list(data["topics"], at_most=count, banned=pair)
        if not topics.kept:
            raise Fault("no_topics", "none of the entries is a new topic of one to three words")
        return topics

    question = PromptRequest(
        stage=NAME,
        template="topics",
        variables={"types": ctx.type_variables(pair), "count": count, "language": ctx.locale.language_name, "seed": ctx.config.seed},
        schema=list_schema("topics"),
        item_id=pair_key(pair),
    )
    topics, _ = await ask(question, ctx, accept)
    return topics
