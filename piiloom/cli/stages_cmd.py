"""``piiloom stages``: how far each stage of a run has come, and single stages run alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from piiloom.cli.options import DEFAULT_STORE, ConfigOption, JsonOption, RunOption, StoreOption
from piiloom.cli.terminal import examples
from piiloom.generation.settings.command_line_options import collected, takes

_LIST = ("piiloom stages list", "piiloom stages list --run last --json")
_RUN = (
    "piiloom stages run topics subtopics --samples 100 --seed 7",
    "piiloom stages run topics subtopics --provider openai --samples 20 --judge relevance --budget-usd 1",
    "piiloom stages run values situation peripheral question paraphrase spans screen",
)

stages_app = typer.Typer(
    help="See how far the stages of a run have come, or run single ones.",
    epilog=examples(*_LIST, *_RUN),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@stages_app.command("list", epilog=examples(*_LIST))
def list_stages(store: StoreOption = DEFAULT_STORE, run: RunOption = None, as_json: JsonOption = False) -> None:
    """List the stages of a run in order, with items done and rejected, and the reasons."""
    from piiloom.cli.staging import print_stages

    print_stages(store, run or "last", as_json=as_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class StagesOptions:
    """What ``stages run`` is asked for; ``settings`` are those of the run that were given."""

    stages: Annotated[list[str], typer.Argument(metavar="STAGE...", help="The stages to run, in the order given; stages list names them.")]
    store: StoreOption = DEFAULT_STORE
    run: RunOption = None
    as_json: JsonOption = False
    config: ConfigOption = None
    settings: dict[str, Any] = field(default_factory=dict)


@stages_app.command("run", epilog=examples(*_RUN))
@takes(StagesOptions)
def run_stages(**given: Any) -> None:
    """Run single stages over all items that wait for them, as python -m generation.STAGE does.

    The stage topics without --run starts a new run; only then can the settings of a run be given, except those of paid calls, which
    each stage takes. A stage replaces what it rejects by new items, which go through the stages before it. All stages in order give
    what piiloom generate gives.
    """
    from piiloom.cli.staging import run_all

    told = collected(StagesOptions, given)
    if not run_all(told.stages, told.store, run=told.run, settings=told.settings, config=told.config, as_json=told.as_json):
        raise typer.Exit(1)
