"""Stage 2: narrower threads within a topic, in which facts of both types could come up.

In: a pair and one of its topics. Out: up to ``subtopics_per_topic`` subtopics of one to three words. Runs once a topic,
and only for the topics that the planned number of records needs.
"""

from __future__ import annotations

from typing import Any

from piiloom.generation.stage import Fault, PromptRequest, StageContext, ask, list_schema
from piiloom.generation.stages.topics import PhraseList, clean_list, pair_key
from piiloom.taxonomy.entity_types import Pair

NAME = "subtopics"
TEMPLATES: tuple[str, ...] = ("subtopics",)


def topic_key(pair: Pair, topic: str) -> str:
    """Return the key of a topic of a pair in the store: ``age+health/night shifts``."""
    return f"{pair_key(pair)}/{topic}"


async def run(pair: Pair, topic: str, ctx: StageContext) -> PhraseList:
    """Ask for the subtopics of *topic*; raises ``ItemRejected`` if no reply is usable."""
    count = ctx.config.subtopics_per_topic

    def accept(data: Any) -> PhraseList:
        if ctx.stories is not None:
            return PhraseList(kept=tuple(data["subtopics"]))
        subtopics = clean_list(data["subtopics"], at_most=count, banned=(topic,))
        if not subtopics.kept:
            raise Fault("no_subtopics", "none of the entries is a new subtopic of one to three words")
        return subtopics

    question = PromptRequest(
        stage=NAME,
        template="subtopics",
        variables={
            "types": ctx.type_variables(pair),
            "topic": topic,
            "count": count,
            "language": ctx.locale.language_name,
            "seed": ctx.config.seed,
        },
        schema=list_schema("subtopics"),
        item_id=topic_key(pair, topic),
    )
    subtopics, _ = await ask(question, ctx, accept)
    return subtopics
