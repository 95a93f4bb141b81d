"""The composer as a provider: it answers a stage from the call's variables, as a model would answer from the prompt.

It is a template-based generator: its texts come from the scenario bank by grammar, not from a language model. A reply
depends on the call's stage, variables and attempt only, so it can be recomputed at will and costs nothing.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from corpus.marks import mark, strip_marks
from foundation.seeding import derive_rng
from foundation.words import count_words
from generation.composer.asides import compose_aside
from generation.composer.filling import capitalised, fill, slot_name
from generation.composer.passages import compose_passage
from pii_values.drawing import ValueRequest, draw_values
from pii_values.persona import draw_persona
from providers.errors import InvalidRequest
from providers.protocol import Completion, PromptCall
from taxonomy.grammar import expand
from taxonomy.scenarios import Bank, Scenario

Variables = Mapping[str, Any]
TRIES = 12
ASIDES_APART = 8  # as many asides as a plan item can have


class ComposerProvider:
    """Implements ``providers.protocol.Provider`` over a scenario bank."""

    name = "composer"
    model = "scenario-bank"
    endpoint = "embedded"
    paid = False

    def __init__(self, bank: Bank) -> None:
        self.bank = bank
        self._answers: dict[str, Callable[[Variables, random.Random], dict[str, Any]]] = {
            "topics": self._topics,
            "subtopics": self._subtopics,
            "pii_value": self._value,
            "situation": self._situation,
            "peripheral": self._peripheral,
            "question_draft": self._question,
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
        """Nothing is open."""

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

    def _value(self, variables: Variables, rng: random.Random) -> dict[str, Any]:
        request = ValueRequest(
            entity_type=variables["type"]["name"], subtypes=(variables["subtype"]["name"],), subject=variables["subject"]
        )
        # The persona is the item's, not the value's: all values of an item are to be of one person.
        persona = draw_persona(derive_rng("composer persona", variables["seed"]), variables["locale"])
        return {"value": draw_values(persona, [request], rng)[0].text}

    def _situation(self, variables: Variables, rng: random.Random) -> dict[str, Any]:
        scenario = self.bank.scenarios[variables["scenario"]]
        ids = {slot_name(value["type"]): value["id"] for value in variables["values"]}
        texts = {slot_name(value["type"]): value["text"] for value in variables["values"]}
        sentence = ""
        for _ in range(TRIES):
            pattern = expand(rng.choice(scenario.situation), rng)
            sentence = capitalised(fill(pattern, texts, lambda slot, text: mark(ids[slot], text)))
            if variables["words"]["min"] <= count_words(strip_marks(sentence).text) <= variables["words"]["max"]:
                break
        return {"text": sentence}

    def _peripheral(self, variables: Variables, rng: random.Random) -> dict[str, Any]:
        band = (variables["words"]["min"], variables["words"]["max"])
        # Each aside of a post has fillers of its own, or two might say the same.
        shuffled = derive_rng("fillers", variables["seed"]).sample(self.bank.fillers, len(self.bank.fillers))
        fillers = shuffled[variables["number"] :: ASIDES_APART]
        return {"text": compose_aside(self.bank, variables["values"], band, rng, fillers=fillers)}

    def _question(self, variables: Variables, rng: random.Random) -> dict[str, Any]:
        scenario = self.bank.scenarios[variables["scenario"]]
        pattern = rng.choice(_question_patterns(scenario, variables["kind"]))
        texts = {slot_name(value["type"]): value["text"] for value in variables["values"]}
        return {"question": capitalised(fill(expand(pattern, rng), texts, lambda _, text: text))}

    def _paraphrase(self, variables: Variables, rng: random.Random) -> dict[str, Any]:
        relevance = {value["id"]: value["relevance"] for value in variables["values"]}
        return {"text": compose_passage(variables["sentences"], relevance, variables["lead"], rng)}

    def _span(self, variables: Variables, rng: random.Random) -> dict[str, Any]:  # noqa: ARG002 - one signature for all answers
        text = variables["value"]["text"]
        return {"span": text if text in variables["text"] else None}


def _question_patterns(scenario: Scenario, kind: str) -> tuple[str, ...]:
    by_kind = {"question_draft": scenario.draft, "question_personal": scenario.personal, "question_abstracted": scenario.abstracted}
    return by_kind[kind]
