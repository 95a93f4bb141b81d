"""The command-line options for run settings, declared once for all commands that start or resume a run.

This module imports nothing heavy, so that ``--help`` is quick.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

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


def takes(options: type, names: Iterable[str] = ()) -> Callable[[Command], Command]:
    """Decorate a command ``(**given)`` so that Typer sees an option for each field of the dataclass *options* and each setting in *names*.

    Fields are annotated as Typer reads them. The command makes *options* of what it is given with ``collected``.
    """
    del names
    parameters = parameters_of(options, leave_out=("settings",))

    def declared(command: Command) -> Command:
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        vars(command)["__signature__"] = inspect.Signature(parameters)
        return command

    return declared


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
