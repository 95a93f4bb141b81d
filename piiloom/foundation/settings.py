"""Settings, each declared once as a field of a pydantic model.

Command-line options (``piiloom.foundation.command_line``), Python keywords (``takes_keywords``), run files, docs/settings.md and the digest
of a run are made from these fields::

    class Drawing(Settings):
        samples: int = setting(100, "Number of accepted records.", panel="Records", ge=1)
        bank: Converted[Path | None, str | Path | None] = setting(None, "Your own scenarios.", metavar="DIR")
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Concatenate,
    Final,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    overload,
)

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from piiloom.foundation.errors import UsageError
from piiloom.foundation.schema_faults import schema_faults

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

P = ParamSpec("P")
ReturnT = TypeVar("ReturnT")
FirstT = TypeVar("FirstT")
SecondT = TypeVar("SecondT")
ModelT = TypeVar("ModelT", bound="Settings")
OutT_co = TypeVar("OutT_co", covariant=True)
InT_contra = TypeVar("InT_contra", contravariant=True)

# Whether a setting is part of a run's digest: as its value, in a form of its own, by the content of the file that it names, or not at all.
Counts = Literal["value", "apart", "content", "no"]

if TYPE_CHECKING:

    class Converted(Generic[OutT_co, InT_contra]):
        """A field that takes an ``InT_contra`` and is read as an ``OutT_co``, for type checkers; pydantic sees an ``OutT_co``."""

        def __get__(self, instance: object, owner: type) -> OutT_co: ...
        def __set__(self, instance: object, value: InT_contra) -> None: ...

else:

    class Converted:  # noqa: D101 - as above
        def __class_getitem__(cls, types: tuple[Any, Any]) -> Any:
            return types[0]


AnyPath = Converted[Path, str | Path]
OptionalPath = Converted[Path | None, str | Path | None]


def words_of(given: object) -> object:
    """Return the words of a text, which commas separate; anything else is returned as it is."""
    return tuple(word for part in given.split(",") if (word := part.strip())) if isinstance(given, str) else given


# Words that the command line separates by commas; declare them with ``kind=str``.
Words = Converted[Annotated[tuple[str, ...], BeforeValidator(words_of)], str | Sequence[str]]
OptionalWords = Converted[Annotated[tuple[str, ...] | None, BeforeValidator(words_of)], str | Sequence[str] | None]


@dataclass(frozen=True, slots=True)
class Option:
    """The command-line form of a setting. ``flags``: its names, () for a setting of files and keywords only.

    ``kind`` is the type that the command line reads where it differs from the field's. An ``argument`` has no flag. ``advanced`` options
    are shown by --help-all only.
    """

    flags: tuple[str, ...]
    panel: str
    metavar: str | None
    kind: Any
    argument: bool
    advanced: bool
    counts: Counts


_NO_FLAGS: Final = "-"


def setting(
    default: Any,
    help: str,  # noqa: A002 - the word of argparse, click and Typer
    *,
    flags: str = "",
    panel: str = "",
    metavar: str | None = None,
    kind: Any = None,
    argument: bool = False,
    advanced: bool = False,
    counts: Counts = "value",
    **limits: Any,
) -> Any:
    """Declare a setting; ... (Ellipsis) as *default* makes it required.

    *flags* are option names separated by blanks (``--out -o``), "-" for none; by default ``--name-of-field``. *limits* (``ge``, ``le``,
    ``gt`` …) are those of ``pydantic.Field``. See ``Option`` for the others.
    """
    names = () if flags == _NO_FLAGS else tuple(flags.split()) or ("",)
    option = Option(names, panel, metavar, kind, argument, advanced, counts)
    return Field(default, description=help, json_schema_extra={"option": option}, **limits)  # type: ignore[dict-item]  # kept for us only


class Settings(BaseModel):
    """Base of models of settings: immutable, and without unknown names. ``panels`` is the order of the groups of options in help."""

    panels: ClassVar[tuple[str, ...]] = ()
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def of(cls, given: Mapping[str, Any], *, noun: str = "setting", remedy: str = "") -> Self:
        """Return the settings *given*. Raises ``UsageError`` for the first that is unknown or has a value out of range."""
        try:
            return cls(**given)
        except ValidationError as error:
            faults = schema_faults(error, cls, noun=noun)
            fault = next((one for one in faults if one.hint), faults[0])  # an unknown name explains another one that is missing
            raise UsageError(fault.said("settings"), remedy=remedy or None) from None

    @classmethod
    def option_name(cls, name: str) -> str:
        """Return the long option name of the setting *name*; "" if the command line has none."""
        return next(iter(flags_of(name, cls.model_fields[name])), "").partition("/")[0]

    def part(self, kind: type[ModelT]) -> ModelT:
        """Return the settings of *kind*, a base of this model, as that model."""
        values = {name: getattr(self, name) for name in kind.model_fields}
        return kind.model_construct(self.model_fields_set.intersection(values), **values)

    def given(self) -> dict[str, Any]:
        """Return the settings that were given rather than left at their defaults."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}


def option_of(field: FieldInfo) -> Option:
    """Return the command-line form of *field*, which ``setting`` declared."""
    extra: Any = field.json_schema_extra
    if not isinstance(option := (extra or {}).get("option"), Option):
        raise TypeError("this field is not declared by setting()")
    return option


def flags_of(name: str, field: FieldInfo) -> tuple[str, ...]:
    """Return the option names of *field*, called *name*, the long one first; () if the command line has none."""
    return tuple(flag or f"--{name.replace('_', '-')}" for flag in option_of(field).flags)


def count_or_auto(given: object) -> int | Literal["auto"]:
    """Return the number of workers *given*, or "auto". Raises ``UsageError`` for anything else."""
    text = str(given)
    if text == "auto":
        return "auto"
    if not (text.isascii() and text.isdigit() and int(text)):
        raise UsageError(f"{text!r} is not a number of workers", where="--workers", remedy="Give a number from 1 on, or auto")
    return int(text)


def names_that_count(model: type[Settings], *counts: Counts) -> frozenset[str]:
    """Return the settings of *model* whose place in the digest is one of *counts*."""
    return frozenset(name for name, field in model.model_fields.items() if option_of(field).counts in counts)


class _Decorator(Protocol[P]):
    """The type of ``takes_keywords(model)``: positional parameters of the function stay, and the fields of the model follow as keywords."""

    @overload
    def __call__(self, work: Callable[[Any], ReturnT]) -> Callable[P, ReturnT]: ...
    @overload
    def __call__(self, work: Callable[[FirstT, Any], ReturnT]) -> Callable[Concatenate[FirstT, P], ReturnT]: ...
    @overload
    def __call__(self, work: Callable[[FirstT, SecondT, Any], ReturnT]) -> Callable[Concatenate[FirstT, SecondT, P], ReturnT]: ...


def takes_keywords(model: Callable[P, Settings]) -> _Decorator[P]:
    """Make the last parameter of a function, which is a *model*, the fields of that model as keywords.

    ``help()``, editors and type checkers show the keywords. The function raises ``UsageError`` for an unknown keyword or a bad value.
    """
    kind: Any = model

    def decorate(work: Callable[..., ReturnT]) -> Callable[..., ReturnT]:
        *own, _ = inspect.signature(work, eval_str=False).parameters.values()
        first = inspect.Signature(own)

        @wraps(work)
        def called(*positional: Any, **keywords: Any) -> ReturnT:
            named = {name: keywords.pop(name) for name in first.parameters if name in keywords}
            asked = kind.of(keywords, noun="keyword", remedy=f"See help(piiloom.{work.__name__})")
            return work(*first.bind(*positional, **named).args, asked)

        fields = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if field.is_required() else field.get_default(),
                annotation=field.annotation,
            )
            for name, field in kind.model_fields.items()
        ]
        vars(called)["__signature__"] = inspect.Signature([*own, *fields], return_annotation=work.__annotations__.get("return"))
        return called

    return decorate
