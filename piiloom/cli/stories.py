"""``piiloom stories``: lint stories, and print texts as the composer tells them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from piiloom.cli.options import json_setting
from piiloom.cli.terminal import command_group, examples, say, say_json, say_result
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import AnyPath, OptionalPath, Settings, setting
from piiloom.foundation.words import counted
from piiloom.generation.composer.story_lint import lint_stories, locale_of, samples
from piiloom.generation.composer.story_writing import ToldStory
from piiloom.generation.composer.telling import StoryUntold
from piiloom.taxonomy.bank_loading import user_sources
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import extended
from piiloom.taxonomy.own_types_file import read_types_file, types_beside_stories
from piiloom.taxonomy.stories import Story
from piiloom.taxonomy.story_bank import load_stories, read_stories, stories_by_id

_CHECK = ("piiloom stories check my_stories.yaml", "piiloom stories check my_bank --language sv --json")
_SHOW = (
    "piiloom stories show finance-location.rent-increase",
    "piiloom stories show --bank my_stories.yaml --seed 3 -n 2",
)

stories_app = command_group("Check stories of the composer, and print what they tell.", *_CHECK, *_SHOW)


class StoryOptions(Settings):
    """The language and the own types of stories, and the form of the result."""

    language: str = setting("en", "Language of the stories: en, pt, sv.", metavar="CODE")
    types: OptionalPath = setting(None, "Your own entity types in the stories (docs/own-types.md).", metavar="FILE")
    as_json: bool = json_setting()

    def taxonomy(self, stories: Path | None) -> Taxonomy:
        """Return the shipped types with those of the types file, or else of the file of *stories*."""
        if self.types is not None:
            return extended(read_types_file(self.types))
        return extended(() if stories is None else types_beside_stories(stories))


class CheckOptions(StoryOptions):
    """The options of ``stories check``."""

    path: AnyPath = setting(..., "A YAML file with stories, or a folder of such files.", metavar="PATH", argument=True)


class ShowStories(StoryOptions):
    """The options of ``stories show``."""

    story: str | None = setting(None, "The story; all if not given.", metavar="ID", argument=True)
    bank: OptionalPath = setting(None, "A file or folder of your own, instead of the stories that ship.", metavar="PATH")
    seed: int = setting(0, "Seed of the texts.", ge=0)
    limit: int = setting(3, "Number of texts of each story.", flags="--limit -n", metavar="N", ge=1, le=1000)


@stories_app.command("check", epilog=examples(*_CHECK))
@takes(CheckOptions)
def check(asked: CheckOptions) -> None:
    """Lint stories: their form, leaks of sentences and questions, and faults of 200 texts of each."""
    if not asked.path.exists():
        raise UsageError(f"there is no {asked.path}", where="PATH", remedy="Name a YAML file or a folder of them.")
    findings = lint_stories(user_sources(asked.path), asked.taxonomy(asked.path), asked.language)
    total = counted(len(findings), "finding") if findings else "no findings"
    say_result({"findings": [asdict(finding) for finding in findings]}, *map(str, findings), total, as_json=asked.as_json)
    if findings:
        raise typer.Exit(1)


@stories_app.command("show", epilog=examples(*_SHOW))
@takes(ShowStories)
def show(asked: ShowStories) -> None:
    """Print texts of stories as the composer tells them: the values marked, and for each question which of them matter."""
    taxonomy, locale = asked.taxonomy(asked.bank), locale_of(asked.language).code
    stories = _stories(asked, taxonomy)
    told = {one: list(samples(one, locale, taxonomy, seed=asked.seed, number=asked.limit)) for one in stories.values()}
    if asked.as_json:
        say_json([_row(text, story) for story, texts in told.items() for text in texts if isinstance(text, ToldStory)])
        return
    for story, texts in told.items():
        for place, text in enumerate(texts, 1):
            say(f"{story.id} ({story.voice}), text {place} of seed {asked.seed}")
            say("\n".join(_lines(text, story)) + "\n")


def _stories(asked: ShowStories, taxonomy: Taxonomy) -> Mapping[str, Story]:
    """Return the stories to show by id. Raises ``UsageError`` for an unknown id, or where there are no stories."""
    if asked.bank is None:
        stories = load_stories(asked.language, None, taxonomy)
    elif asked.bank.exists():
        stories = stories_by_id(story for file in user_sources(asked.bank) for story in read_stories(file, taxonomy, asked.language))
    else:
        raise UsageError(f"there is no {asked.bank}", where="--bank", remedy="Name a YAML file or a folder of them.")
    if asked.story is not None and asked.story not in stories:
        names = sorted(stories)
        known = f"There are {len(names)}, such as {', '.join(names[:3])}." if names else "There are none."
        raise UsageError(f"there is no story {asked.story!r}", where="ID", remedy=known)
    if not stories:
        where = "--bank" if asked.bank else "--language"
        raise UsageError("there are no stories", where=where, remedy="Name a file that has some with --bank.")
    return stories if asked.story is None else {asked.story: stories[asked.story]}


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


def _lines(told: ToldStory | StoryUntold, story: Story) -> Iterator[str]:
    if isinstance(told, StoryUntold):
        yield f"  {told}"
        return
    yield "\n".join(f"  {line}" for line in told.bracketed().split("\n"))
    facts = dict.fromkeys(span.fact for span in told.spans)
    for question in told.questions:
        yield f"  → {question.text}"
        for fact in facts:
            high = fact in question.high
            values = ", ".join(dict.fromkeys(span.value for span in told.spans if span.fact == fact))
            yield f"     {'H' if high else 'l'}  {values}  ({story.facts[fact].entity_type}, {fact})"
