"""The command-line options for run settings, declared once for all commands that start or resume a run.

This module imports nothing heavy, so that ``--help`` is quick.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

import typer

from piiloom.generation.settings.checking_options import CHECKS
from piiloom.generation.settings.option_panels import CALLS as _CALLS
from piiloom.generation.settings.option_panels import RUN as _RUN

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., None])

# Options that other commands take, too.
ModelOption = Annotated[str | None, typer.Option("--model", rich_help_panel=_RUN, help="The provider's model, as the provider spells it.")]
BaseUrlOption = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", rich_help_panel=_RUN, help="Where a compatible server listens: http://localhost:11434/v1."),
]
BankOption = Annotated[
    Path | None,
    typer.Option(
        "--bank", metavar="DIR", rich_help_panel=_RUN, help="Scenarios and sentences of your own: a bank file, or a folder of them."
    ),
]
TypesOption = Annotated[
    Path | None,
    typer.Option(
        "--types",
        metavar="YAML",
        rich_help_panel=_RUN,
        help="Entity types of your own beside the 15 that ship (docs/own-types.md); the run and its store remember them.",
    ),
]

# The options by their field names in ``RunConfig``; ``keep_going`` stands for ``stop_after: 0``.
SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "samples": Annotated[
            int | None, typer.Option("--samples", min=1, rich_help_panel=_RUN, help="How many accepted records are wanted (default 100).")
        ],
        "provider": Annotated[
            str | None,
            typer.Option(
                "--provider", rich_help_panel=_RUN, help="composer (default; needs no key or network), openai, anthropic or compatible."
            ),
        ],
        "model": ModelOption,
        "base_url": BaseUrlOption,
        "pairs": Annotated[
            str | None,
            typer.Option("--pairs", rich_help_panel=_RUN, help='"all" (default), or pairs of PII types: health+occupation,age+belief.'),
        ],
        "locale": Annotated[str | None, typer.Option("--locale", rich_help_panel=_RUN, help="Locale of texts and values (default en_US).")],
        "seed": Annotated[
            int | None,
            typer.Option(
                "--seed",
                rich_help_panel=_RUN,
                help="Same seed and settings, same plan; from the composer also the same records (default 7).",
            ),
        ],
        "concurrency": Annotated[
            int | None,
            typer.Option(
                "--concurrency",
                min=1,
                rich_help_panel=_RUN,
                help="How many calls may be in flight at once (default 16). Never changes a record.",
            ),
        ],
        "values": Annotated[
            Literal["code", "llm"] | None,
            typer.Option(
                "--values",
                rich_help_panel=_RUN,
                help="Where PII values come from: code (default; the value lexicons) or llm (the provider).",
            ),
        ],
        "recipe": Annotated[
            Literal["staged", "case", "story"] | None,
            typer.Option(
                "--recipe",
                rich_help_panel=_RUN,
                help="How a text is made: story (the composer tells a whole story; its default), case (a model writes a whole text and "
                "keeps a ledger of what matters; its default), or staged (sentence by sentence, with one question).",
            ),
        ],
        "questions_per_text": Annotated[
            int | None,
            typer.Option(
                "--questions-per-text",
                min=1,
                max=4,
                rich_help_panel=_RUN,
                help="How many records share a text, each with a question of its own (default 2; with --recipe staged always 1).",
            ),
        ],
        "on_disagreement": Annotated[
            Literal["redo", "reject", "relabel"] | None,
            typer.Option(
                "--on-disagreement",
                rich_help_panel=_RUN,
                help="When the judge of the recipe case contradicts a label: redo the question once, then reject (default); "
                "reject; or relabel.",
            ),
        ],
        "bank": BankOption,
        "types": TypesOption,
        "topics_per_pair": Annotated[
            int | None,
            typer.Option(
                "--topics-per-pair", min=1, rich_help_panel=_RUN, help="How many topics are asked for a pair of types (default 10)."
            ),
        ],
        "subtopics_per_topic": Annotated[
            int | None,
            typer.Option(
                "--subtopics-per-topic", min=1, rich_help_panel=_RUN, help="How many subtopics are asked for a topic (default 20)."
            ),
        ],
        "max_attempts": Annotated[
            int | None,
            typer.Option(
                "--max-attempts", min=1, rich_help_panel=_RUN, help="How often a stage asks before it rejects an item (default 3)."
            ),
        ],
        **CHECKS,
        "prompts": Annotated[
            Path | None,
            typer.Option(
                "--prompts", metavar="DIR", rich_help_panel=_RUN, help="Prompt templates of your own, which replace shipped ones by name."
            ),
        ],
        "temperature": Annotated[
            float | None,
            typer.Option(
                "--temperature", rich_help_panel=_RUN, help="How freely the model draws, 0 to 2; the provider's default when not given."
            ),
        ],
        "top_p": Annotated[
            float | None, typer.Option("--top-p", rich_help_panel=_RUN, help="Draw only from the likeliest tokens that make up this share.")
        ],
        "extra_body": Annotated[
            str | None,
            typer.Option(
                "--extra-body",
                metavar="JSON",
                rich_help_panel=_RUN,
                help="Further fields for every request: '{\"top_k\": 40}'. By stage: sampling in a run file.",
            ),
        ],
        "rpm": Annotated[
            float | None,
            typer.Option(
                "--rpm", rich_help_panel=_CALLS, help="Requests a minute that the account allows; learnt from the server if it says so."
            ),
        ],
        "tpm": Annotated[
            float | None,
            typer.Option(
                "--tpm", rich_help_panel=_CALLS, help="Tokens a minute that the account allows; learnt from the server if it says so."
            ),
        ],
        "timeout_s": Annotated[
            float | None,
            typer.Option("--timeout", metavar="SECONDS", rich_help_panel=_CALLS, help="How long one request may take (default 60)."),
        ],
        "response_format": Annotated[
            Literal["auto", "json_schema", "json_object", "text"] | None,
            typer.Option(
                "--response-format",
                rich_help_panel=_CALLS,
                help="How a compatible server is asked for JSON; auto (default) finds out with a tiny call what it takes.",
            ),
        ],
        "budget_usd": Annotated[
            float | None,
            typer.Option(
                "--budget-usd",
                metavar="USD",
                rich_help_panel=_CALLS,
                help="Hard stop for the whole run, all sessions: no call starts that could pass it. The run can be resumed with more.",
            ),
        ],
        "price": Annotated[
            str | None,
            typer.Option(
                "--price",
                metavar="input=X,output=Y",
                rich_help_panel=_CALLS,
                help="USD per million tokens of a model that is not listed; also cached=…, cache_write=….",
            ),
        ],
        "unpriced": Annotated[
            bool | None,
            typer.Option("--unpriced", rich_help_panel=_CALLS, help="Go on although the model's price is unknown: costs are not counted."),
        ],
        "batch": Annotated[
            bool | None,
            typer.Option(
                "--batch", rich_help_panel=_CALLS, help="Send by the provider's batch API (half the price, up to a day). Ctrl-C is safe."
            ),
        ],
        "keep_going": Annotated[
            bool | None,
            typer.Option(
                "--keep-going",
                rich_help_panel=_CALLS,
                help="Do not stop when item after item is rejected for one reason and nothing gets through.",
            ),
        ],
    }
)
# Settings of how calls are made, which may change when a run is resumed.
CALL_SETTINGS = ("concurrency", "rpm", "tpm", "timeout_s", "response_format", "budget_usd", "price", "unpriced", "batch", "keep_going")


def _chosen_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the *options* that were given on the command line, as settings of a run."""
    given = {name: value for name, value in options.items() if name in SETTINGS and value is not None and value != []}
    return given if given.pop("keep_going", None) is None else given | {"stop_after": 0}


def takes(options: type, names: Iterable[str] = tuple(SETTINGS)) -> Callable[[Command], Command]:
    """Decorate a command ``(**given)`` so that Typer sees an option for each field of the dataclass *options* and each setting in *names*.

    Fields are annotated as Typer reads them. The command makes *options* of what it is given with ``collected``.
    """
    parameters = parameters_of(options, leave_out=("settings",))
    parameters += [_parameter(name, SETTINGS[name], None) for name in names]

    def declared(command: Command) -> Command:
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        vars(command)["__signature__"] = inspect.Signature(parameters)
        return command

    return declared


def collected(options: Callable[..., T], given: Mapping[str, Any]) -> T:
    """Make the dataclass *options* of what its command was *given*; its field ``settings`` gets the settings among it."""
    return options(settings=_chosen_settings(given), **{name: value for name, value in given.items() if name not in SETTINGS})


def parameters_of(options: type, *, leave_out: Iterable[str] = ()) -> list[inspect.Parameter]:
    """Return a parameter for each field of the dataclass *options* but those in *leave_out*, annotated as Typer reads it."""
    hints = get_type_hints(options, include_extras=True)
    return [
        _parameter(one.name, hints[one.name], inspect.Parameter.empty if one.default is MISSING else one.default)
        for one in fields(options)
        if one.name not in leave_out
    ]


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
