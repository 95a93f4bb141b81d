"""The options of ``piiloom surrogate run`` as keywords of a Python function: typed, checked, with the command's own defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, TypedDict, get_type_hints

from pydantic import ConfigDict, ValidationError, create_model

from piiloom.cli.surrogate_options import RENAMED, InputOptions, RunOptions, warning_of_old_value
from piiloom.foundation.errors import UsageError


class SurrogateOptions(TypedDict, total=False):
    """The options of ``piiloom surrogate run``, named as there; its ``--help`` says what each does.

    ``file_format`` is ``--format``. ``values="llm"`` sends sentences to a model and needs ``yes=True``.
    ``groups="exact"`` and ``values="code"`` are old spellings of "balanced" and "local".
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
    groups: Literal["balanced", "weights", "cue", "exact"]
    weights: str
    english_only: bool
    script: Literal["latin", "native"]
    names: str | Path | None
    keep_weekdays: bool
    values: Literal["local", "llm", "code"]
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


def options_of(source: Path, out: Path, given: Mapping[str, Any]) -> tuple[InputOptions, RunOptions, list[str]]:
    """Return the command's options for the keywords *given*, and warnings about old spellings.

    Raises ``UsageError`` for a keyword that the command has not, or a value that it would refuse.
    """
    hints = get_type_hints(SurrogateOptions)
    known = {field.name: field for group in (InputOptions, RunOptions) for field in fields(group)}
    shape: dict[str, Any] = {name: (hint, known[name].default) for name, hint in hints.items()}
    checked = create_model("SurrogateSettings", __config__=ConfigDict(extra="forbid"), **shape)
    try:
        values = {name: value for name, value in checked(**given) if name in hints}
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{key}: {first['msg']}", remedy="See piiloom surrogate run --help") from None
    _check_ranges(values)
    warnings = [warning for name, value in values.items() if (warning := warning_of_old_value(name, value)) is not None]
    values |= {name: new[values[name]] for name, new in RENAMED.items() if values[name] in new}
    values |= {name: Path(values[name]) for name in ("names", "store", "vault") if values[name] is not None}
    of_input = {field.name: values.pop(field.name) for field in fields(InputOptions) if field.name in values}
    return InputOptions(source=source, **of_input), RunOptions(out=out, **values), warnings


def _check_ranges(values: Mapping[str, Any]) -> None:
    """Hold numbers to the ranges that the command's options declare."""
    declared = get_type_hints(InputOptions, include_extras=True) | get_type_hints(RunOptions, include_extras=True)
    for name, annotation in declared.items():
        option = next(iter(getattr(annotation, "__metadata__", ())), None)
        low, high, value = getattr(option, "min", None), getattr(option, "max", None), values.get(name)
        if value is None or (low is None and high is None):
            continue
        if (low is not None and not value >= low) or (high is not None and not value <= high):
            bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
            raise UsageError(f"{name}: {value} is out of range", remedy=f"Give a number {bounds}")
