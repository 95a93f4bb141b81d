"""docs/settings.md: all settings of a run, from the fields of ``RunConfig``."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from docs.making.markdown import page, table
from piiloom.cli import surrogate_cmd
from piiloom.cli.surrogate_keywords import SurrogateOptions
from piiloom.foundation.settings import flags_of, option_of
from piiloom.generation.settings.configuration import PROVIDERS, RunConfig

_INTRO = """
Every setting has a default. A setting is given as an option of `piiloom generate`, as a key of a run file
(`--config`, [an example](run.example.yaml)), or as a keyword of `piiloom.generate` in Python; an option wins over the file. A run file
whose run is in the store already goes on with it, to more `samples` if it asks for them. Names that are unknown, and values out of
range, are refused before anything is sent or stored.

**May change**: whether `--resume` takes another value. *yes*: it says how a run is made, and changes no record. *place*: a file or folder
may have moved, with the same content. An empty cell: another value makes another run.
"""
_OUTRO = """
Null means that nothing is set: no limit, or the provider's own default. Recipes are told
apart in [pipeline.md](pipeline.md), [stories.md](stories.md) and [case.md](case.md).
"""
_SURROGATES = """
## Options of surrogates

Those of `piiloom surrogate run`, which are the keywords of `piiloom.surrogate`, too. The guide is [surrogates.md](surrogates.md).
"""


def settings_page() -> str:
    """The text of the page."""
    heads = ("setting, option", "default", "values", "what it does", "may change")
    groups: dict[str, list[str]] = {panel: [] for panel in RunConfig.panels}
    for name, field in RunConfig.model_fields.items():
        groups[option_of(field).panel].append(name)
    parts = [f"## {title}\n\n{table(heads, map(_row, names))}" for title, names in groups.items()]
    return page("Settings", _INTRO, *parts, _OUTRO, _SURROGATES, _surrogate_options())


def _surrogate_options() -> str:
    """The options of ``piiloom surrogate run``, in the order of its help: those of the input first."""
    heads = ("keyword, option", "default", "what it does")
    parameters = inspect.signature(surrogate_cmd.run).parameters
    rows = []
    for name in get_type_hints(SurrogateOptions):
        (option,) = parameters[name].annotation.__metadata__
        rows.append(
            (
                f"`{name}`<br>`{option.default}{' ' + option.metavar if option.metavar else ''}`",
                _shown(parameters[name].default),
                option.help,
            )
        )
    return table(heads, rows)


def _row(name: str) -> tuple[str, ...]:
    field = RunConfig.model_fields[name]
    change = {"no": "yes", "content": "place"}.get(option_of(field).counts, "")
    default = "story; with a model case" if name == "recipe" else _shown(field.get_default())
    return _names(name, field), default, _values(name, field), field.description or "", change


def _names(name: str, field: FieldInfo) -> str:
    """The setting's name, and that of its option, if any, with what it takes."""
    flags, metavar = flags_of(name, field), option_of(field).metavar
    return f"`{name}`" + (f"<br>`{flags[0]}{f' {metavar}' if metavar else ''}`" if flags else "")


def _shown(value: Any) -> str:
    if value in (None, ""):
        return "null"
    if isinstance(value, BaseModel):
        return "nothing"
    if value in ((), {}, []):
        return "none"
    if isinstance(value, tuple) and all(isinstance(one, str) for one in value):
        return "all"
    return f"`{json.dumps(value)}`" if isinstance(value, bool | tuple | list) else f"`{value}`"


def _values(name: str, field: FieldInfo) -> str:
    """The values that a field takes: words, or a type with its bounds."""
    if name == "provider":
        return ", ".join(f"`{one}`" for one in PROVIDERS)
    if name == "registers":
        return ", ".join(f"`{one}`" for one in field.get_default())
    if name in {"sampling", "composer", "extra_body"}:
        return "an object"
    if name in {"bank", "prompts", "types"}:
        return "a path"
    words = list(_words(field.annotation))
    if words:
        return ", ".join(f"`{word}`" for word in words)
    hint = str(field.annotation)
    kind = "two numbers" if "tuple[int" in hint else "true, false" if "bool" in hint else "number" if "float" in hint else ""
    kind = kind or ("whole number" if "int" in hint else "text")
    bounds = {one: getattr(meta, one) for meta in field.metadata for one in ("ge", "gt", "le") if hasattr(meta, one)}
    said = [f"{word} {bounds[one]}" for one, word in (("ge", "from"), ("gt", "more than"), ("le", "to")) if one in bounds]
    return f"{kind}, {' '.join(said)}" if said else kind


def _words(hint: Any) -> Iterator[str]:
    """The words of all ``Literal`` types inside *hint*."""
    if get_origin(hint) is Literal:
        yield from (str(word) for word in get_args(hint))
    else:
        for part in get_args(hint):
            yield from _words(part)
