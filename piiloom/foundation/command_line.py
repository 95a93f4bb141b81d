"""Command-line options made of the fields of settings (``piiloom.foundation.settings``), in the form that Typer reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import GenericAlias, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

import typer
from pydantic import ValidationError

from piiloom.foundation.errors import UsageError
from piiloom.foundation.schema_faults import schema_faults
from piiloom.foundation.settings import Settings, flags_of, option_of

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

AskedT = TypeVar("AskedT", bound=Settings)
ReturnT = TypeVar("ReturnT")

_HELP_ALL: Final = "help_all"
_PLAIN: Final = (bool, int, float, str, Path)


def takes(
    model: type[AskedT], settings: type[Settings] | None = None, only: Collection[str] | None = None
) -> Callable[[Callable[..., ReturnT]], Callable[..., ReturnT]]:
    """Make a function ``(asked)`` of one *model* a command with an option for each field of the model.

    With *settings*, a second model, the function is ``(asked, given)``: *given* are the settings on the command line, unchecked, as a run
    file may complete them. *only* restricts them to those names. Required options are the first of their panel.
    """
    wanted = {} if settings is None else {n: f for n, f in settings.model_fields.items() if only is None or n in only}
    fields = {**model.model_fields, **wanted}
    panels = (settings or model).panels
    place = {panel: number for number, panel in enumerate(("", *panels))}
    options = [parameter(name, field) for name, field in fields.items() if flags_of(name, field) or option_of(field).argument]
    options.sort(
        key=lambda one: (place.get(one.annotation.__metadata__[0].rich_help_panel or "", len(place)), one.default is not one.empty)
    )
    options.append(_help_all([flags_of(name, field)[0].partition("/")[0] for name, field in fields.items() if option_of(field).advanced]))

    def decorate(work: Callable[..., ReturnT]) -> Callable[..., ReturnT]:
        @wraps(work)
        def command(**values: Any) -> ReturnT:
            given = {name: value for name, value in values.items() if value is not None and value != [] and name != _HELP_ALL}
            asked = asked_for(model, {name: value for name, value in given.items() if name in model.model_fields})
            return work(asked) if settings is None else work(asked, {name: given[name] for name in wanted if name in given})

        # Help wraps paragraphs at the width of the terminal, but keeps line breaks in all but the first.
        command.__doc__ = "\n\n".join(part.replace("\n", " ") for part in (inspect.getdoc(work) or "").split("\n\n"))
        command.__annotations__ = {one.name: one.annotation for one in options}
        vars(command)["__signature__"] = inspect.Signature(options)
        return command

    return decorate


def asked_for(model: type[AskedT], given: Mapping[str, Any]) -> AskedT:
    """Return the *model* of the options *given*. Raises ``UsageError`` that names the option at fault."""
    try:
        return model(**given)
    except ValidationError as error:
        fault = schema_faults(error, model, noun="option")[0]
        name = str(fault.path[0]) if fault.path else ""
        option = model.option_name(name) if name in model.model_fields else ""
        raise UsageError(fault.message, where=option or name or None) from None


def parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    """Return the command-line parameter of the setting *field*; a setting that is not given is None, so that it stays at its default."""
    option, kind, required = option_of(field), _kind(field), field.is_required()
    limits = {"min": _limit(field, "ge"), "max": _limit(field, "le")} if kind in (int, float) else {}
    text = f"{field.description}{'' if required else _shown(field.get_default())}"
    about: dict[str, Any] = {
        "help": text,
        "show_default": False,
        "metavar": option.metavar or _words(field.annotation, kind),
        "rich_help_panel": option.panel or None,
        **limits,
    }
    if option.argument:
        declared: Any = typer.Argument(**about)
    else:
        declared = typer.Option(*flags_of(name, field), hidden=option.advanced, **about)
    annotation = Annotated[kind if required else kind | None, declared]  # type: ignore[valid-type]  # a type that is made here
    default = inspect.Parameter.empty if required else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _kind(field: FieldInfo) -> Any:
    """Return the type that the command line reads for *field*: a plain type, words, or a list of these; text for all others."""
    if (kind := option_of(field).kind) is not None:
        return kind
    members = [one for one in _members(field.annotation) if one is not type(None)]
    (kind,) = members if len(members) == 1 else (str,)
    origin, inside = get_origin(kind), get_args(kind)
    if kind in _PLAIN or origin is Literal:
        return kind
    if origin in (tuple, list, frozenset, Sequence) and set(inside[1:]) <= {Ellipsis}:
        return GenericAlias(list, (inside[0] if inside[0] in _PLAIN else str,))
    return str


def _members(hint: Any) -> list[Any]:
    if get_origin(hint) is Annotated:
        return _members(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return [leaf for one in get_args(hint) for leaf in _members(one)]
    return [hint]


def _limit(field: FieldInfo, name: str) -> float | None:
    return next((getattr(one, name) for one in field.metadata if hasattr(one, name)), None)


def _words(hint: Any, kind: Any) -> str | None:
    """Return the words that an option takes which may be repeated, as help shows them: relevance|leak."""
    words = [word for one in _members(hint) for inside in get_args(one) if get_origin(inside) is Literal for word in get_args(inside)]
    return "|".join(map(str, words)) if words and kind == list[str] else None


def _shown(default: Any) -> str:
    """Return the default as help shows it after the meaning; nothing where there is none."""
    if default is None or default in ("", (), [], {}) or default is False:
        return ""
    if isinstance(default, tuple | list | frozenset):
        default = ", ".join(str(one) for one in default)
    return f" (default {'on' if default is True else f'{default:g}' if isinstance(default, float) else default})"


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        for one in context.command.params:
            if hasattr(one, "hidden"):
                one.hidden = False
        typer.echo(context.get_help())
        raise typer.Exit


def _help_all(hidden: Sequence[str]) -> inspect.Parameter:
    """Return the parameter --help-all, whose help names the options that only it shows."""
    about = f"Show all options and exit: also {', '.join(hidden)}."
    option = typer.Option("--help-all", callback=_show_all, is_eager=True, hidden=not hidden, help=about)
    return inspect.Parameter(_HELP_ALL, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, option])
