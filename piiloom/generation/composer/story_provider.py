"""The composer as the provider of story runs: it is only asked for topics and subtopics, and lists those of its stories."""

from __future__ import annotations

import json

from piiloom.foundation.seeding import derive_rng
from piiloom.providers.errors import InvalidRequest
from piiloom.providers.protocol import Completion, PromptCall
from piiloom.taxonomy.entity_types import Pair
from piiloom.taxonomy.story_bank import StoryBank


class StoryProvider:
    """Implements ``piiloom.providers.protocol.Provider`` over a bank of stories."""

    name = "composer"
    model = "story-bank"
    endpoint = "embedded"
    paid = False

    def __init__(self, stories: StoryBank) -> None:
        self.stories = stories

    async def complete(self, call: PromptCall) -> Completion:
        """List topics or subtopics; raises ``InvalidRequest`` for any other template."""
        first, second = (kind["name"] for kind in call.variables.get("types", ({"name": ""}, {"name": ""})))
        pair: Pair = (first, second)
        if call.schema_name == "topics":
            found = dict.fromkeys(story.topic for story in self.stories.for_pair(pair))
        elif call.schema_name == "subtopics":
            told = self.stories.about(pair, call.variables["topic"])
            found = dict.fromkeys(subtopic for story in told for subtopic in story.subtopics)
        else:
            raise InvalidRequest(f"the composer has no answer to {call.template}", remedy="Use another provider for this stage")
        listed = list(found)
        derive_rng("composer", call.schema_name, call.variables.get("seed"), call.item_id, call.attempt).shuffle(listed)
        data = {call.schema_name: listed[: call.variables["count"]]}
        return Completion(text=json.dumps(data, ensure_ascii=False), data=data, model=self.model)

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""
