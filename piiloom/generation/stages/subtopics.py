"""Stage 2: narrower threads within a topic, in which facts of both types could come up.

In: a pair and one of its topics. Out: up to ``subtopics_per_topic`` subtopics of one to three words. Runs once a topic,
and only for the topics that the planned number of records needs.
"""

from __future__ import annotations

from piiloom.generation.stage import StageContext
from piiloom.generation.stages.topics import PhraseList, list_phrases, pair_key
from piiloom.taxonomy.entity_types import Pair

NAME = "subtopics"
TEMPLATES: tuple[str, ...] = ("subtopics",)


def topic_key(pair: Pair, topic: str) -> str:
    """Return the key of a topic of a pair in the store: ``age+health/night shifts``."""
    return f"{pair_key(pair)}/{topic}"


async def run(pair: Pair, topic: str, ctx: StageContext) -> PhraseList:
    """Ask for the subtopics of *topic*; raises ``ItemRejected`` if no reply is usable."""
    return await list_phrases(NAME, pair, topic_key(pair, topic), ctx.config.subtopics_per_topic, ctx, banned=(topic,), topic=topic)
