"""docs/voices.md: ten texts of each voice with direct identifiers, drawn by a seed."""

from __future__ import annotations

import textwrap

from docs.making.markdown import page
from piiloom.foundation.seeding import derive_rng
from piiloom.generation.composer.story_writing import ToldStory
from piiloom.generation.composer.telling import tell
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.stories import Story
from piiloom.taxonomy.story_bank import load_stories
from piiloom.taxonomy.story_style import PAPER_VOICES

EACH, SEED = 10, 45
_INTRO = f"""
{EACH} texts of each of the nine voices with direct identifiers, from stories that seed {SEED} draws ([stories.md](stories.md) defines the
voices). Values stand in square brackets; below a text is one of its questions, and what the
answer needs (high). All else is low. All people, numbers and addresses are made up.
"""


def voices_page() -> str:
    """The text of the page."""
    stories = [one for one in load_stories("en", extra=None, taxonomy=shipped_taxonomy()).values() if one.facts]
    return page("Voices", _INTRO, *(_section(voice, [one for one in stories if one.voice == voice]) for voice in PAPER_VOICES))


def _section(voice: str, stories: list[Story]) -> str:
    drawn = derive_rng("voices", SEED, voice).sample(stories, EACH)
    told = (tell(story, derive_rng("voices", SEED, story.id), shipped_taxonomy(), questions=1) for story in drawn)
    return f"## {voice}\n\n" + "\n\n".join(map(_entry, told))


def _entry(told: ToldStory) -> str:
    question = told.questions[0]
    high = dict.fromkeys(span.value for span in told.spans if span.fact in question.high)
    shown = textwrap.indent(f"{told.bracketed()}\n\n→ {question.text}\n  high: {', '.join(high)}", "  ")
    return f"`{told.story}`\n\n```\n{shown}\n```"
