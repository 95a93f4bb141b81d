"""``piiloom stories``: lint stories, and see what they tell."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.options import JsonOption
from piiloom.cli.terminal import examples

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
    from piiloom.cli.story_report import report_stories

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
    from piiloom.cli.story_view import show_stories

    show_stories(story, source, seed=seed, number=number, language=language, types=types, as_json=as_json)
