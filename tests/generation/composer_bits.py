"""A scenario, small talk and values with which the tests compose; everything in them can be told apart."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any

from hypothesis import strategies as st

from piiloom.corpus.alignment import MARK, strip_marks
from piiloom.foundation.words import count_words
from piiloom.generation.composer.provider import Brief
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.grammar import all_expansions
from piiloom.taxonomy.scenarios import Also, Definite, Qualifier, Scenario, Talk
from piiloom.taxonomy.text_shapes import Register

_SLOT = re.compile(r"\{[^{}]*\}")
_GIVEN = r"(?:[Aa]n? )?\[\[v\d+\|[^\]]*\]\]"
rngs = st.integers(0, 2**32).map(random.Random)

SCENARIO = Scenario(
    id="health-occupation.night-rota",
    pair=("health", "occupation"),
    uses=MappingProxyType({"health": ("condition",), "occupation": ("job_title",)}),
    subjects=MappingProxyType({}),
    also=MappingProxyType(
        {"finance": Also(uses=("savings",), why="how long unpaid rest is possible", tells=("With {finance} I can rest.",))}
    ),
    topic="shift work",
    subtopics=("night rota",),
    rationale=MappingProxyType({"health": "what the body bears", "occupation": "what the rota asks"}),
    tells=MappingProxyType(
        {
            "both": ("As {a:occupation} with {health} I <dread|hate> the rota.", "{health} and {a:occupation} do not go together."),
            "health": ("My {health} <flares|acts> up at night.", "{health} came back."),
            "occupation": ("I work as {a:occupation}.", "They wanted {a:occupation}, so here I am."),
        }
    ),
    stakes=(
        "The <rota|plan> is fixed for the whole season.",
        "Nobody has offered me another <slot|shift> so far.",
        "I asked twice and was told to wait.",
        "The bus does not run that late.",
        "My boss <shrugs|laughs> and hands out the keys.",
    ),
    questions=MappingProxyType(
        {
            "neutral": ("<Can|May> I refuse this?", "Who decides in the end?"),
            "implied": ("Must I bear what my body <cannot|can't> take?", "Do tired people get other hours?"),
            "personal": ("With what I have, may I say no?", "Where does that leave me?"),
        }
    ),
    origin="mine.yaml:2",
)
TALK = Talk(
    chatter=tuple(f"Chatter number {word} goes on <gladly|sadly> for a while." for word in "one two three four five six seven".split()),
    distractors=("My old Honda is a <fine|poor> car.",),
    asks=("Tell me what you would do now.",),
    openers=MappingProxyType({"any": ("Hello <all|there>.",), "chat message": ("heya",)}),
    closers=MappingProxyType({"any": ("Thanks for reading.",)}),
    turns=("By the way,", "Also,"),
    quoted=("We will answer <soon|later>.",),
    second_hand=("Asking for my {relationship.asked_for}:", "My {relationship.asked_for} <wrote|said> this:"),
    prefaces=("I have read <all|much>.",),
    tails=(", or is that <wrong|foolish>?",),
    drafts=("Given {values}:",),
    plain_starts=frozenset({"my", "the", "nobody"}),
    kept_starts=frozenset({"I"}),
    shorthand=MappingProxyType({"because": ("bc", "cuz"), "going to": ("gonna",), "I'm": ("im",)}),
    hesitations=("um", "like"),
    emoji=("🙂",),
    qualifiers=MappingProxyType({("health", "condition"): Qualifier(after=frozenset({"my", "with"}), words=("bad", "nasty"))}),
    definite=MappingProxyType({"Netherlands": Definite(article="the", after=frozenset({"in"}))}),
)
PLAIN_TALK = replace(TALK, qualifiers=MappingProxyType({}))

_KINDS = {
    "v1": ("health", "condition", "asthma", "high"),
    "v2": ("occupation", "job_title", "air traffic controller", "high"),
    "v3": ("finance", "savings", "$8,000 in savings", "high"),
    "v4": ("location", "city", "Dayton", "low"),
    "v5": ("code", "case_number", "CLM-48Q", "low"),
    "v6": ("relationship", "asked_for", "sister", "low"),
    "v7": ("name", "first_name", "Ines", "low"),
}


def value(value_id: str, **changes: str) -> dict[str, str]:
    """The value *value_id* as a call's variables describe it."""
    kind, subtype, text, relevance = _KINDS[value_id]
    return {"id": value_id, "text": text, "type": kind, "subtype": subtype, "subject": "self", "relevance": relevance, **changes}


VALUES = {value_id: value(value_id) for value_id in _KINDS}


@cache
def calm() -> Register:
    """A register that does nothing to a text: prose in one paragraph."""
    nothing = dict.fromkeys(
        "lower unpointed typos abbreviations emoji hesitations typographic paragraphs opener closer".split(),
        0.0,
    )
    return Register(weight=1, words=(10, 50, 100), low_spans=8, layout="prose", **nothing)


def register(**changes: Any) -> Register:
    """A calm register but for *changes*."""
    return calm().model_copy(update=changes)


def brief(*value_ids: str, **changes: Any) -> Brief:
    """What a passage with these values is to be: as a plain statement, of 40 words, led by the first."""
    known = [VALUES[value_id] for value_id in value_ids]
    settings = {
        "relevance": {v["id"]: v["relevance"] for v in known},
        "kinds": {v["id"]: v["type"] for v in known},
        "texts": [v["text"] for v in known],
        "opening": None,
        "ends": frozenset(),
        "lead": known[0]["relevance"] if known else None,
        "words": 40,
        "register": "plain statement",
        "topic": "shift work",
    }
    return Brief(**{**settings, **changes}, taxonomy=shipped_taxonomy())


def marks(text: str) -> list[tuple[str, str]]:
    """(value id, surface) of each mark in order."""
    return MARK.findall(text)


def length(marked: str) -> int:
    """The words of a marked text."""
    return count_words(strip_marks(marked).text)


def fits(text: str, pattern: str) -> bool:
    """Whether *text* is an expansion of *pattern* with a mark, and its article, in each slot."""
    shapes = (_GIVEN.join(map(re.escape, _SLOT.split(expansion))) for expansion in all_expansions(pattern, 200))
    return any(re.fullmatch(shape, text) for shape in shapes)
