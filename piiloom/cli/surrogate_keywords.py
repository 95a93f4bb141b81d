"""The options of ``piiloom surrogate run`` as keywords of a Python function: typed, checked, with the command's own defaults."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, TypedDict, get_type_hints

from pydantic import ConfigDict, ValidationError, create_model

from piiloom.cli import surrogate_cmd
from piiloom.cli.surrogate_reading import Reading
from piiloom.foundation.errors import UsageError


class SurrogateOptions(TypedDict, total=False):
    """The options of ``piiloom surrogate run``, named as there; its ``--help`` says what each does.

    ``file_format`` is ``--format``. ``values="llm"`` sends sentences to a model and needs ``yes=True``.
    """

    text_field: list[str] | None
    id_field: str | None
    file_format: str | None
    encoding: str | None
    header: bool
    delimiter: str | None
    quoting: Literal["auto", "csv", "none"]
    max_unpacked: int
    spans: bool
    spans_field: str | None
    placeholders: str
    on_unknown: Literal["keep", "error", "generic"]
    locale: str
    seed: int
    scope: Literal["document", "corpus"]
    strategy: Literal["consistent", "per-mention", "markov"]
    keep: float
    groups: Literal["exact", "weights", "cue"]
    weights: str
    english_only: bool
    script: Literal["latin", "native"]
    names: str | Path | None
    keep_weekdays: bool
    values: Literal["code", "llm"]
    provider: str | None
    model: str | None
    base_url: str | None
    concurrency: int
    budget_usd: float | None
    price: str | None
    unpriced: bool
    store: str | Path
    yes: bool
    leakage: str
    scan: bool
    workers: str
    vault: str | Path | None
    force: bool


def told(source: Path, out: Path, options: Mapping[str, Any]) -> tuple[Reading, dict[str, Any]]:
    """What the command would be told by *options*; ``UsageError`` for one that it has not, or a value that it would refuse."""
    parameters = inspect.signature(surrogate_cmd.run).parameters
    hints = get_type_hints(SurrogateOptions)
    shape: dict[str, Any] = {name: (hint, parameters[name].default) for name, hint in hints.items()}
    checked = create_model("SurrogateSettings", __config__=ConfigDict(extra="forbid"), **shape)
    try:
        values = {name: value for name, value in checked(**options) if name in hints}
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{key}: {first['msg']}", remedy="See piiloom surrogate run --help") from None
    _check_ranges(values)
    values |= {name: Path(values[name]) for name in ("names", "store", "vault") if values[name] is not None}
    reading = {field.name: values.pop(field.name) for field in fields(Reading) if field.name in values}
    return Reading(source=source, **reading), {**values, "out": out}


def _check_ranges(values: Mapping[str, Any]) -> None:
    """Hold numbers to the ranges that the command's options declare."""
    for name, parameter in inspect.signature(surrogate_cmd.run).parameters.items():
        option = next(iter(getattr(parameter.annotation, "__metadata__", ())), None)
        low, high, value = getattr(option, "min", None), getattr(option, "max", None), values.get(name)
        if value is None or (low is None and high is None):
            continue
        if (low is not None and not value >= low) or (high is not None and not value <= high):
            bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
            raise UsageError(f"{name}: {value} is out of range", remedy=f"Give a number {bounds}")
