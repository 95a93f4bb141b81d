"""The composer as a provider: it answers a call from the call's variables, as a model would answer from the prompt.

Its texts are expanded from patterns of the scenario bank, not written by a language model. A reply depends only on the call's stage,
variables, item id and attempt, so it can be recomputed at any time and costs nothing. The provider of story runs only lists topics and
subtopics.

A post is its sentences reordered, with small talk and slips in the style of its register; its layout is prose with paragraphs, a list, or a
mail.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from piiloom.corpus.alignment import MARK
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import count_words
from piiloom.generation.composer.scenario_texts import (
    capitalised,
    compose_aside,
    compose_draft,
    compose_question,
    compose_situation,
    dressed,
    expand_clear,
    marked_length,
    to_avoid,
)
from piiloom.generation.composer.surfaces import wear
from piiloom.providers.errors import InvalidRequest
from piiloom.providers.protocol import Completion, PromptCall
from piiloom.taxonomy.entity_types import Pair, Taxonomy
from piiloom.taxonomy.scenarios import Bank, Talk
from piiloom.taxonomy.story_bank import StoryBank
from piiloom.taxonomy.text_shapes import ANY_REGISTER, Register, load_registers

_TURN = 0.16
# Shares of texts with a distractor (a sentence that looks like PII and is none): of texts with values, and of texts without; and the
# share of distractors among further small talk.
_DISTRACTOR, _DISTRACTOR_ALONE, _DISTRACTOR_AMONG_TALK = 0.3, 0.8, 0.12
_ASK = 0.12
# Small talk is drawn from this many neighboring patterns of the bank; how often a sentence of it directly follows the last one.
_NEARBY, _GOES_ON = 40, 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The specification of a passage.

    ``relevance`` and ``kinds``: relevance and type of each value by id. ``texts``: the texts of the values. ``opening``: id of the value
    whose sentence must come first, ``ends``: ids of values whose sentence must come last. ``lead``: relevance of the first value.
    ``words``: target length.
    """

    relevance: Mapping[str, str]
    kinds: Mapping[str, str]
    taxonomy: Taxonomy
    texts: Sequence[str]
    opening: str | None
    ends: frozenset[str]
    lead: str | None
    words: int
    register: str
    topic: str
    distractors: bool = True


def compose_passage(sentences: Sequence[str], talk: Talk, brief: Brief, rng: random.Random) -> str:
    """Arrange marked *sentences* into a text whose first value has the relevance ``brief.lead``; their lines may be moved apart."""
    register = load_registers()[brief.register]
    avoid = to_avoid((), brief.texts)
    matter = [line for text in sentences for line in text.split("\n") if _leads(text, brief) != "low"]
    asides = [text.replace("\n", " ") for text in sentences if _leads(text, brief) == "low"]
    last = [text for text in asides if not brief.ends.isdisjoint(found.group(1) for found in MARK.finditer(text))]
    asides = [text for text in asides if text not in last]
    units = _led(_ordered(matter, asides, rng), brief)
    units = _padded(units, sum(marked_length(text) for text in sentences), talk, brief, avoid, rng)
    units = [_turned(unit, talk, rng) if place and rng.random() < _TURN else unit for place, unit in enumerate(units)]
    opener = _said(talk.openers, brief.register, avoid, rng) if rng.random() < register.opener else None
    closer = _said(talk.closers, brief.register, avoid, rng) if rng.random() < register.closer else None
    quoted = expand_clear(rng.choice(talk.quoted), avoid, rng) if talk.quoted and register.layout == "mail" and rng.random() < 0.2 else None
    subject = rng.choice(talk.subject_words) if talk.subject_words else None
    text = lay_out([*units, *last], register, opener=opener, closer=closer, quoted=quoted, subject_word=subject, topic=brief.topic, rng=rng)
    return wear(text, register, talk, brief.kinds, brief.taxonomy, rng)


def _leads(sentence: str, brief: Brief) -> str | None:
    """Return the relevance of the first value in *sentence*, None if it holds none."""
    found = MARK.search(sentence)
    return brief.relevance[found.group(1)] if found else None


def _ordered(matter: list[str], asides: list[str], rng: random.Random) -> list[str]:
    """Draw an order: mixed, asides first, the matter first, or one of them inside the other."""
    plan = rng.random()
    if plan < 0.4:
        units = [*matter, *asides]
        rng.shuffle(units)
        return units
    if plan < 0.58:
        return [*asides, *matter]
    if plan < 0.76:
        return [*matter, *asides]
    outer, inner = (asides, matter) if plan < 0.88 else (matter, asides)
    cut = rng.randint(0, len(outer))
    return [*outer[:cut], *inner, *outer[cut:]]


def _led(units: list[str], brief: Brief) -> list[str]:
    """Move a unit with the leading relevance before all other units with values; if there is an opening, move it to the front."""
    if brief.opening is not None:
        first = next(unit for unit in units if f"[[{brief.opening}|" in unit)
        return [first, *(unit for unit in units if unit is not first)]
    holding = [unit for unit in units if _leads(unit, brief)]
    if not holding or _leads(holding[0], brief) == brief.lead:
        return units
    leading = next((unit for unit in holding if _leads(unit, brief) == brief.lead), holding[0])
    rest = [unit for unit in units if unit is not leading]
    place = rest.index(next(unit for unit in rest if _leads(unit, brief))) if len(holding) > 1 else 0
    return [*rest[:place], leading, *rest[place:]]


def _padded(units: list[str], words: int, talk: Talk, brief: Brief, avoid: Collection[str], rng: random.Random) -> list[str]:
    """Insert small talk, and sometimes a distractor, between the units until the text (*words* long so far) has its target length."""
    padded = list(units)
    first = 1 if brief.opening is not None else 0
    extra: list[str] = []

    def add(text: str | None, to: list[str]) -> int:
        """Append *text* to *to* if it is not None and new; returns the number of words added."""
        if text is None or text in to:
            return 0
        to.append(text)
        return count_words(text)

    wanted_distractor = brief.distractors and (rng.random() < (_DISTRACTOR if brief.texts else _DISTRACTOR_ALONE)) and brief.words > 20
    if wanted_distractor and talk.distractors:
        words += add(expand_clear(rng.choice(talk.distractors), avoid, rng), extra)
    for pattern in _small_talk(talk, 2 + brief.words // 8, rng):
        if words >= brief.words - 5:
            break
        among = talk.distractors if brief.distractors and rng.random() < _DISTRACTOR_AMONG_TALK else None
        words += add(expand_clear(rng.choice(among) if among else pattern, avoid, rng), extra)
    place = rng.randint(first, len(padded))
    for text in extra:
        padded.insert(place, text)
        place = place + 1 if rng.random() < _GOES_ON else rng.randint(first, len(padded))
    if talk.asks and rng.random() < _ASK:
        add(expand_clear(rng.choice(talk.asks), avoid, rng), padded)
    return padded


def _small_talk(talk: Talk, most: int, rng: random.Random) -> list[str]:
    """Draw up to *most* patterns of small talk that are close together in the bank, so that they are mostly about one theme."""
    reach = min(len(talk.chatter), max(_NEARBY, 2 * most))
    start = rng.randint(0, len(talk.chatter) - reach)
    return rng.sample(talk.chatter[start : start + reach], min(reach, most))


def _turned(sentence: str, talk: Talk, rng: random.Random) -> str:
    """Put a turn of phrase before *sentence*, if its first word allows it."""
    first = sentence.split(" ", 1)[0]
    if not talk.turns or not (first in talk.kept_starts or first.casefold() in talk.plain_starts):
        return sentence
    turn = capitalised(rng.choice(talk.turns))
    return f"{turn} {sentence if first in talk.kept_starts else sentence[:1].lower() + sentence[1:]}"


def _said(by_register: Mapping[str, Sequence[str]], register: str, avoid: Collection[str], rng: random.Random) -> str | None:
    patterns = by_register.get(register) or by_register.get(ANY_REGISTER)
    return expand_clear(rng.choice(patterns), avoid, rng) if patterns else None


_SUBJECT = 0.4  # share of mails with a subject line
_BULLETS = ("- ", "* ", "• ", "")


def lay_out(
    units: Sequence[str],
    register: Register,
    *,
    opener: str | None,
    closer: str | None,
    quoted: str | None,
    subject_word: str | None,
    topic: str,
    rng: random.Random,
) -> str:
    """Join *units* in the register's layout, with *opener* before and *closer* after them.

    A mail sometimes gets a subject line (*subject_word* and *topic*) above, and *quoted* below if it is given.
    """
    if register.layout == "list":
        bullet = rng.choice(_BULLETS)
        return "\n".join([*([opener] if opener else []), *(bullet + unit for unit in units), *([closer] if closer else [])])
    body = _paragraphs([*([opener] if opener and register.layout != "mail" else []), *units], register.paragraphs, rng)
    if register.layout == "mail":
        subject = f"{subject_word}: {capitalised(topic)}" if subject_word and rng.random() < _SUBJECT else None
        below = "\n".join(f"> {line}" for line in quoted.split("\n")) if quoted else None
        return "\n\n".join(part for part in (subject, opener, body, closer, below) if part)
    return body + (("\n\n" if rng.random() < register.paragraphs else " ") + closer if closer else "")


def _paragraphs(units: Sequence[str], chance: float, rng: random.Random) -> str:
    text = units[0] if units else ""
    for unit in units[1:]:
        text += ("\n\n" if rng.random() < chance else " ") + unit
    return text


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
