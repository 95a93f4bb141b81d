"""The composer as a provider: it answers a call from the call's variables, as a model would answer from the prompt.

Its texts are expanded from patterns of the scenario bank, not written by a language model. A reply depends only on the call's stage,
variables, item id and attempt, so it can be recomputed at any time and costs nothing. The provider of story runs only lists topics and
subtopics.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from piiloom.foundation.seeding import derive_rng
from piiloom.generation.composer.passages import Brief, compose_passage
from piiloom.generation.composer.scenario_texts import compose_aside, compose_draft, compose_question, compose_situation, dressed
from piiloom.providers.errors import InvalidRequest
from piiloom.providers.protocol import Completion, PromptCall
from piiloom.taxonomy.entity_types import Pair, Taxonomy
from piiloom.taxonomy.scenarios import Bank
from piiloom.taxonomy.story_bank import StoryBank

Variables = Mapping[str, Any]


class ComposerProvider:
    """Implements ``piiloom.providers.protocol.Provider`` over a scenario bank."""

    name = "composer"
    model = "scenario-bank"
    endpoint = "embedded"
    paid = False

    def __init__(self, bank: Bank, taxonomy: Taxonomy, *, distractors: bool = True, locale: str | None = None) -> None:
        """Set up a composer over *bank*, for values of the types of *taxonomy*.

        *distractors* false leaves out text that looks like PII and is none (for ablations). *locale* decides between articles ("an herb",
        "a herb"); by default the bank's language does.
        """
        self.bank, self._taxonomy, self._distractors = bank, taxonomy, distractors
        self._locale = locale or bank.language
        self._answers: dict[str, Callable[[Variables, random.Random], dict[str, Any]]] = {
            "topics": self._topics,
            "subtopics": self._subtopics,
            "situation": self._situation,
            "peripheral": self._peripheral,
            "question_draft": self._draft,
            "question_personal": self._question,
            "question_abstracted": self._question,
            "paraphrase": self._paraphrase,
            "span_retrieval": self._span,
        }

    async def complete(self, call: PromptCall) -> Completion:
        """Compose the reply to *call*; raises ``InvalidRequest`` for a template it does not know."""
        kind = call.schema_name
        answer = self._answers.get(kind)
        if answer is None:
            raise InvalidRequest(f"the composer has no answer to {call.template}", remedy="Use another provider for this stage")
        rng = derive_rng("composer", kind, call.variables.get("seed"), call.item_id, call.attempt)
        data = answer({**call.variables, "kind": kind}, rng)
        return Completion(text=json.dumps(data, ensure_ascii=False), data=data, model=self.model)

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""

    def _topics(self, variables: Variables, rng: random.Random) -> dict[str, Any]:
        first, second = (kind["name"] for kind in variables["types"])
        topics = list(dict.fromkeys(scenario.topic for scenario in self.bank.for_pair((first, second))))
        rng.shuffle(topics)
        return {"topics": topics[: variables["count"]]}

    def _subtopics(self, variables: Variables, rng: random.Random) -> dict[str, Any]:
        first, second = (kind["name"] for kind in variables["types"])
        scenarios = [s for s in self.bank.for_pair((first, second)) if s.topic == variables["topic"]]
        subtopics = list(dict.fromkeys(subtopic for scenario in scenarios for subtopic in scenario.subtopics))
        rng.shuffle(subtopics)
        return {"subtopics": subtopics[: variables["count"]]}

    def _situation(self, variables: Variables, rng: random.Random) -> dict[str, Any]:
        band = (variables["words"]["min"], variables["words"]["max"])
        scenario = self.bank.scenarios[variables["scenario"]]
        return {"text": compose_situation(scenario, self.bank.talk, variables["values"], band, variables["others"], rng, self._locale)}

    def _peripheral(self, variables: Variables, rng: random.Random) -> dict[str, Any]:
        band = (variables["words"]["min"], variables["words"]["max"])
        frame, others = variables["frame"], variables["others"]
        return {"text": compose_aside(self.bank, variables["values"], frame, others, rng, self._locale, band=band)}

    def _draft(self, variables: Variables, rng: random.Random) -> dict[str, Any]:
        return {"question": compose_draft(self.bank.scenarios[variables["scenario"]], self.bank.talk, variables["values"], rng)}

    def _question(self, variables: Variables, rng: random.Random) -> dict[str, Any]:
        scenario, talk = self.bank.scenarios[variables["scenario"]], self.bank.talk
        # The personal question (no cue level) is the basis of the abstracted one, so it gets no preface or tail.
        level = variables.get("cue_level")
        values, others = variables["values"], variables["others"]
        told, beside = variables["situation"], " ".join(variables.get("asides", ()))
        question = compose_question(scenario, level or "personal", told, beside, values, others, rng)
        return {"question": dressed(question, values, others, talk, rng) if level else question}

    def _paraphrase(self, variables: Variables, rng: random.Random) -> dict[str, Any]:
        values = variables["values"]
        brief = Brief(
            relevance={value["id"]: value["relevance"] for value in values},
            kinds={value["id"]: value["type"] for value in values},
            taxonomy=self._taxonomy,
            texts=[value["text"] for value in values],
            opening=next((value["id"] for value in values if value["subtype"] == "asked_for"), None),
            ends=frozenset(variables["ends"]),
            lead=variables["lead"],
            words=variables["words"]["target"],
            register=variables["register"],
            topic=variables["topic"],
            distractors=self._distractors,
        )
        return {"text": compose_passage(variables["sentences"], self.bank.talk, brief, rng)}

    def _span(self, variables: Variables, rng: random.Random) -> dict[str, Any]:  # noqa: ARG002 - one signature for all answers
        text = variables["value"]["text"]
        return {"span": text if text in variables["text"] else None}


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
