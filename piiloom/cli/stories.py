"""``piiloom stories``: lint stories, and see what they tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.cli.options import JsonOption
from piiloom.cli.terminal import examples, say, say_json
from piiloom.foundation.counting import counted
from piiloom.foundation.errors import UsageError
from piiloom.generation.composer.story_lint import lint_stories, locale_of
from piiloom.generation.composer.story_trials import samples
from piiloom.generation.composer.telling import StoryUntold
from piiloom.generation.composer.told import ToldStory
from piiloom.taxonomy.bank_loading import user_sources
from piiloom.taxonomy.entity_types import load_taxonomy
from piiloom.taxonomy.own_types import types_in_force
from piiloom.taxonomy.own_types_file import read_types_file, types_beside_stories
from piiloom.taxonomy.stories import Story
from piiloom.taxonomy.story_loading import by_id, load_stories, read_stories

_CHECK = ("piiloom stories check my_stories.yaml", "piiloom stories check my_bank --language sv --json")
_SHOW = (
    "piiloom stories show finance-location.rent-increase",
    "piiloom stories show --from my_stories.yaml --seed 3 -n 2",
)

stories_app = typer.Typer(
    help="Check stories of the composer, and see what they tell.",
    epilog=examples(*_CHECK, *_SHOW),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_Types = Annotated[
    Path | None,
    typer.Option("--types", metavar="FILE", help="Entity types of your own that they tell of (docs/own-types.md).", show_default=False),
]
_Language = Annotated[str, typer.Option("--language", metavar="CODE", help="The language they are in: en, pt, sv.")]


@stories_app.command("check", epilog=examples(*_CHECK))
def check(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A YAML file with stories, or a folder of them.")],
    language: _Language = "en",
    types: _Types = None,
    as_json: JsonOption = False,
) -> None:
    """Lint stories: their form, what sentences and questions give away, and what comes up when each is told 200 times."""
    if not report_stories(path, language, types=types, as_json=as_json):
        raise typer.Exit(1)


@stories_app.command("show", epilog=examples(*_SHOW))
def show(
    story: Annotated[str | None, typer.Argument(metavar="[ID]", help="The story; all when not given.", show_default=False)] = None,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="PATH", help="A file or folder of your own, instead of the stories that ship.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed, other texts.")] = 0,
    number: Annotated[int, typer.Option("-n", "--number", min=1, max=1000, help="How many texts of each story.")] = 3,
    language: _Language = "en",
    types: _Types = None,
    as_json: JsonOption = False,
) -> None:
    """Print texts of stories as the composer tells them: the values marked, and for each question which of them matter."""
    show_stories(story, source, seed=seed, number=number, language=language, types=types, as_json=as_json)


def report_stories(path: Path, language: str, *, types: Path | None, as_json: bool) -> bool:
    """Print what is wrong with the stories at *path*, a line a finding; whether nothing is."""
    if not path.exists():
        raise UsageError(f"there is no {path}", where="PATH", remedy="Name a YAML file or a folder of them.")
    with types_in_force(read_types_file(types) if types is not None else types_beside_stories(path)):
        findings = lint_stories(user_sources(path), load_taxonomy(), language)
    if as_json:
        say_json({"findings": [asdict(finding) for finding in findings]})
        return not findings
    for finding in findings:
        say(str(finding))
    say(counted(len(findings), "finding") if findings else "no findings")
    return not findings


def show_stories(
    wanted: str | None, source: Path | None, *, seed: int, number: int, language: str, types: Path | None, as_json: bool
) -> None:
    """Print *number* texts of the story *wanted*, or of each; raises ``UsageError`` for an unknown id."""
    beside = types_beside_stories(source) if source is not None else ()
    with types_in_force(read_types_file(types) if types is not None else beside):
        _show_stories(wanted, source, seed=seed, number=number, language=language, as_json=as_json)


def _show_stories(wanted: str | None, source: Path | None, *, seed: int, number: int, language: str, as_json: bool) -> None:
    locale = locale_of(language).code
    stories = _stories(source, language)
    if wanted is not None:
        if wanted not in stories:
            raise UsageError(f"there is no story {wanted!r}", where="ID", remedy=_known(stories))
        stories = {wanted: stories[wanted]}
    if not stories:
        raise UsageError(
            "there are no stories", where="--from" if source else "--language", remedy="Name a file that has some with --from."
        )
    told = {story: list(samples(story, locale, seed=seed, number=number)) for story in stories.values()}
    if as_json:
        say_json([_row(text, story) for story, texts in told.items() for text in texts if isinstance(text, ToldStory)])
        return
    for story, texts in told.items():
        for place, text in enumerate(texts, 1):
            say(f"{story.id} ({story.voice}), text {place} of seed {seed}")
            say("\n".join(_lines(text, story)) + "\n")


def _stories(source: Path | None, language: str) -> Mapping[str, Story]:
    if source is None:
        return load_stories(language)
    if not source.exists():
        raise UsageError(f"there is no {source}", where="--from", remedy="Name a YAML file or a folder of them.")
    taxonomy = load_taxonomy()
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
