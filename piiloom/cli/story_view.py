"""The work behind ``piiloom stories show``: texts with their values marked, and their questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from piiloom.cli.terminal import say, say_json
from piiloom.foundation.errors import UsageError
from piiloom.generation.composer.story_lint import locale_of
from piiloom.generation.composer.story_trials import samples
from piiloom.generation.composer.telling import StoryUntold
from piiloom.generation.composer.told import ToldStory
from piiloom.taxonomy.bank_loading import user_sources
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import extended
from piiloom.taxonomy.own_types_file import read_types_file, types_beside_stories
from piiloom.taxonomy.stories import Story
from piiloom.taxonomy.story_loading import by_id, load_stories, read_stories


def show_stories(
    wanted: str | None, source: Path | None, *, seed: int, number: int, language: str, types: Path | None, as_json: bool
) -> None:
    """Print *number* texts of the story *wanted*, or of each; raises ``UsageError`` for an unknown id."""
    beside = types_beside_stories(source) if source is not None else ()
    taxonomy = extended(read_types_file(types) if types is not None else beside)
    locale = locale_of(language).code
    stories = _stories(source, language, taxonomy)
    if wanted is not None:
        if wanted not in stories:
            raise UsageError(f"there is no story {wanted!r}", where="ID", remedy=_known(stories))
        stories = {wanted: stories[wanted]}
    if not stories:
        raise UsageError(
            "there are no stories", where="--from" if source else "--language", remedy="Name a file that has some with --from."
        )
    told = {story: list(samples(story, locale, taxonomy, seed=seed, number=number)) for story in stories.values()}
    if as_json:
        say_json([_row(text, story) for story, texts in told.items() for text in texts if isinstance(text, ToldStory)])
        return
    for story, texts in told.items():
        for place, text in enumerate(texts, 1):
            say(f"{story.id} ({story.voice}), text {place} of seed {seed}")
            say("\n".join(_lines(text, story)) + "\n")


def _stories(source: Path | None, language: str, taxonomy: Taxonomy) -> Mapping[str, Story]:
    if source is None:
        return load_stories(language, None, taxonomy)
    if not source.exists():
        raise UsageError(f"there is no {source}", where="--from", remedy="Name a YAML file or a folder of them.")
    return by_id(story for file in user_sources(source) for story in read_stories(file, taxonomy, language))


def _known(stories: Iterable[str]) -> str:
    names = sorted(stories)
    return f"There are {len(names)}, such as {', '.join(names[:3])}." if names else "There are none."


def _row(told: ToldStory, story: Story) -> dict[str, Any]:
    return {
        "story": told.story,
        "voice": story.voice,
        "habit": told.habit,
        "text": told.text,
        "spans": [
            {
                "start": span.start,
                "end": span.end,
                "text": span.value,
                "type": span.entity_type,
                "subtype": span.subtype,
                "fact": span.fact,
                "subject": span.subject,
            }
            for span in told.spans
        ],
        "questions": [{"id": question.id, "text": question.text, "high": sorted(question.high)} for question in told.questions],
    }


def _lines(told: ToldStory | StoryUntold, story: Story) -> Iterable[str]:
    if isinstance(told, StoryUntold):
        yield f"  {told}"
        return
    marked, at = "", 0
    for span in told.spans:
        marked += f"{told.text[at : span.start]}[{span.value}]"
        at = span.end
    yield "\n".join(f"  {line}" for line in (marked + told.text[at:]).split("\n"))
    facts = dict.fromkeys(span.fact for span in told.spans)
    for question in told.questions:
        yield f"  → {question.text}"
        for fact in facts:
            high = fact in question.high
            values = ", ".join(dict.fromkeys(span.value for span in told.spans if span.fact == fact))
            yield f"     {'H' if high else 'l'}  {values}  ({story.facts[fact].entity_type}, {fact})"
