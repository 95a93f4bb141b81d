"""docs/settings.md: all settings of a run, from ``RunConfig`` (names, defaults, bounds) and the command's options (meanings)."""

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
from piiloom.generation.settings.command_line_options import SETTINGS
from piiloom.generation.settings.configuration import PROVIDERS, RunConfig
from piiloom.generation.settings.digests import CHANGEABLE_SETTINGS, PLACES
from piiloom.generation.settings.keyword_options import RunOptions

GROUPS: dict[str, tuple[str, ...]] = {
    "What is made": ("samples", "pairs", "locale", "seed", "recipe", "questions_per_text", "values", "types"),
    "Who writes": ("provider", "model", "base_url", "prompts", "bank", "composer"),
    "Texts and questions": (
        *("topics_per_pair", "subtopics_per_topic", "registers", "max_low"),
        *("situation_words", "peripheral_words", "question_words"),
    ),
    "Judges": ("judges", "on_disagreement", "judge_provider", "judge_model", "judge_base_url", "judge_price"),
    "Screening": ("screen_model", "screen_threshold", "on_unlisted"),
    "Temperature and the like": ("temperature", "top_p", "extra_body", "sampling"),
    "How calls are made": ("concurrency", "rpm", "tpm", "timeout_s", "response_format", "max_attempts", "margin", "stop_after", "batch"),
    "Money": ("budget_usd", "price", "unpriced"),
}
_INTRO = """
Every setting has a default. A setting is given as an option of `piiloom generate`, as a key of a run file
(`--config`, [an example](run.example.yaml)), or as a keyword of `piiloom.generate` in Python; an option wins over the file. A run file
whose run is in the store already goes on with it, to more `samples` if it asks for them. Names that are unknown, and values out of
range, are refused before anything is sent or stored.

**May change**: whether `--resume` takes another value. *yes*: it says how a run is made, and changes no record. *place*: a file or folder
may have moved, with the same content. An empty cell: another value makes another run.
"""
_OUTRO = """
`--keep-going` is the option for `stop_after: 0`. Null means that nothing is set: no limit, or the provider's own default. Recipes are told
apart in [pipeline.md](pipeline.md), [stories.md](stories.md) and [case.md](case.md).
"""
_SURROGATES = """
## Options of surrogates

Those of `piiloom surrogate run`, which are the keywords of `piiloom.surrogate`, too. The guide is [surrogates.md](surrogates.md).
"""


def settings_page() -> str:
    """The text of the page. Raises ``ValueError`` for a field that is in no group, or has no meaning."""
    grouped = [name for names in GROUPS.values() for name in names]
    if sorted(grouped) != sorted(RunConfig.model_fields):
        raise ValueError(f"not in exactly one group: {set(grouped) ^ set(RunConfig.model_fields)}")
    heads = ("setting, option", "default", "values", "what it does", "may change")
    parts = [f"## {title}\n\n{table(heads, (_row(name) for name in names))}" for title, names in GROUPS.items()]
    return page("Settings", _INTRO, *parts, _OUTRO, _SURROGATES, _surrogate_options())


def _surrogate_options() -> str:
    """The options of ``piiloom surrogate run``, in the order of its help: those of the input first."""
    heads = ("keyword, option", "default", "what it does")
    parameters = inspect.signature(surrogate_cmd.run).parameters
    rows = []
    for name in get_type_hints(SurrogateOptions):
        (option,) = parameters[name].annotation.__metadata__
        rows.append((_names(name, option), _shown(parameters[name].default), option.help))
    return table(heads, rows)


def _row(name: str) -> tuple[str, ...]:
    field = RunConfig.model_fields[name]
    option = _option(name)
    meaning = field.description or (option.help if option is not None else None)
    if not meaning:
        raise ValueError(f"{name} has no meaning: give its field a description, or an option a help")
    change = "yes" if name in CHANGEABLE_SETTINGS else "place" if name in PLACES else ""
    default = "story; with a model case" if name == "recipe" else _shown(field.get_default())
    return _names(name, option), default, _values(name, field), meaning, change


def _names(name: str, option: Any) -> str:
    """The setting's name, and that of its option, if any, with what it takes."""
    if option is None:
        return f"`{name}`"
    # ``default`` is where Typer keeps the first name of an option that is declared by Annotated.
    return f"`{name}`<br>`{option.default}{' ' + option.metavar if option.metavar else ''}`"


def _option(name: str) -> Any:
    """The ``typer`` option of a setting; None where it has none."""
    if name not in SETTINGS:
        return None
    (option,) = SETTINGS[name].__metadata__
    return option


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
    words = list(_words(get_type_hints(RunOptions)[name]))
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
