"""Random stories: whatever is told, spans are exact and apart, what is needed is told, what is moot is not."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from piiloom.generation.composer.story_writing import mentions
from piiloom.generation.composer.telling import StoryUntold, tell
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.stories import Story
from piiloom.taxonomy.story_checks import story_faults
from piiloom.taxonomy.story_files import StoryEntry
from piiloom.taxonomy.story_reading import read_story

FACTS = ("home", "fee", "more", "mate", "job", "since")
_VALUES = st.lists(st.text("abcdeé ẞİ$1-'.", min_size=1, max_size=8).filter(str.strip), min_size=1, max_size=4)
_FIXED = st.text("abcde .,!'ẞ\U0001f600", min_size=1, max_size=12).filter(str.strip)
_SLOTS = st.sampled_from([f"{{{mark}{name}}}" for name in FACTS for mark in ("", "a:", "A:", "^:")] + ["{friend.he}", "{^:friend.his}"])
_SUBSET = st.lists(st.sampled_from(FACTS), max_size=2, unique=True)


@st.composite
def _wording(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.one_of(_FIXED, _SLOTS, st.just("<b|c d|>")), min_size=1, max_size=5))
    return " ".join(parts)


@st.composite
def _step(draw: st.DrawFn) -> dict[str, Any]:
    step: dict[str, Any] = {"say": draw(st.lists(_wording(), min_size=1, max_size=3)), "para": draw(st.booleans())}
    if draw(st.booleans()):
        step["p"] = draw(st.sampled_from([0.3, 0.7, 1.0]))
    if draw(st.booleans()):
        step["group"] = draw(st.sampled_from(["g", "h"]))
    step["with"] = draw(st.lists(st.sampled_from(FACTS), max_size=1))
    return step


@st.composite
def _question(draw: st.DrawFn, number: int) -> dict[str, Any]:
    named = draw(st.permutations(FACTS))
    needs, helps, moot = draw(st.integers(1, 2)), draw(st.integers(0, 1)), draw(st.integers(0, 1))
    return {
        "id": f"q{number}",
        "ask": ["What now?", "And then?"],
        "needs": dict.fromkeys(named[:needs], "why"),
        "helps": dict.fromkeys(named[needs : needs + helps], "why"),
        "moot": list(named[needs + helps : needs + helps + moot]),
    }


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """A story without fault: its facts come about in every way there is."""
    entry = StoryEntry.model_validate(
        {
            "id": "s",
            "pair": ["finance", "location"],
            "topic": "t",
            "subtopics": ["u"],
            "voice": draw(st.sampled_from(["forum", "chat", "mail"])),
            "cast": {"writer": None, "friend": {"age": [20, 30]}},
            "facts": {
                "home": {"type": "location.city", "any": draw(_VALUES)},
                "fee": {"type": "finance.amount", "number": [10, 40, 5], "as": ["${n}", "{words}"]},
                "more": {"type": "finance.amount", "number": {"of": "fee", "plus": [0, 5]}, "as": ["${n:,}"]},
                "mate": {"type": "name.first_name", "of": "friend"},
                "two": {
                    "as": {"job": "occupation.job_title", "since": {"type": "datetime.year", "of": "friend"}},
                    "rows": [["baker", "2020"], ["<old|new> usher", "2021"]],
                },
            },
            "text": [{"say": ["{home} {fee} {more}", "{mate} {job} {since}"], "p": 0.5}, *draw(st.lists(_step(), min_size=1, max_size=5))],
            "questions": [draw(_question(number)) for number in range(draw(st.integers(2, 4)))],
        }
    )
    assume(not any(True for _ in story_faults((), entry, shipped_taxonomy(), "en")))
    return read_story(entry, "s.yaml:1")


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(story=stories(), seed=st.integers(0, 5))
def test_whatever_is_told_is_told_as_the_story_says(story: Story, seed: int) -> None:
    try:
        told = tell(story, random.Random(seed), taxonomy=shipped_taxonomy())
    except StoryUntold:
        return
    assert told == tell(story, random.Random(seed), taxonomy=shipped_taxonomy())
    end = 0
    for span in told.spans:
        assert end <= span.start < span.end <= len(told.text)
        assert told.text[span.start : span.end] == span.value
        end = span.end
    facts = {span.fact for span in told.spans}
    places = {(span.start, span.end) for span in told.spans}
    assert all(places.issuperset(mentions(span.value, told.text)) for span in told.spans)
    questions = {question.id: question for question in story.questions}
    for asked in told.questions:
        question = questions[asked.id]
        assert facts.issuperset(question.needs)
        assert facts.isdisjoint(question.moot)
        assert asked.high.keys() == {fact for fact in facts if question.decides(fact)}
        assert asked.high.keys() >= set(question.needs)
