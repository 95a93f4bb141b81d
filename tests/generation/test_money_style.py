"""A text writes its amounts in one way."""

from __future__ import annotations

import random
import re

from piiloom.generation.composer.story_values import MoneyStyle
from piiloom.generation.composer.telling import tell
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.stories import Counted, Story
from piiloom.taxonomy.story_bank import load_stories

BOTH = ("$", "dollars")


def test_the_first_amount_decides() -> None:
    style = MoneyStyle()
    ways = ("${n}", "${n:,}", "{n:,} dollars", "{n} bucks")
    assert list(style.fitting(ways, 2400)) == list(ways)
    style.keep("${n}", 600)  # says nothing of thousands
    assert style.fitting(ways, 2400) == ["${n}", "${n:,}"]
    style.keep("${n:,}", 2400)
    assert style.fitting(ways, 9000) == ["${n:,}"]
    assert style.fitting(ways, 90) == ["${n}", "${n:,}"]
    assert list(style.fitting(("{n} euros",), 90)) == ["{n} euros"]


def test_no_text_mixes_two_ways_where_its_story_leaves_the_choice() -> None:
    told_so = 0
    for story in filter(leaves_the_choice, load_stories("en", extra=None, taxonomy=shipped_taxonomy()).values()):
        for seed in range(6):
            told = tell(story, random.Random(seed), habits=False, taxonomy=shipped_taxonomy())
            amounts = [span.value for span in told.spans if span.entity_type == "finance"]
            assert len({"$" in amount for amount in amounts}) <= 1, (story.id, amounts)
            large = [amount for amount in amounts if re.search(r"\d[\d,]{3,}", amount)]
            told_so += len(large) > 1
    assert told_so > 20


def leaves_the_choice(story: Story) -> bool:
    """Whether all money of *story* is in numbers that may be written with a sign as well as in words."""
    sources = [fact.source for fact in story.facts.values() if fact.entity_type == "finance"]
    return len(sources) > 1 and all(
        isinstance(source, Counted) and all(any(mark in spelling for spelling in source.spellings) for mark in BOTH) for source in sources
    )
