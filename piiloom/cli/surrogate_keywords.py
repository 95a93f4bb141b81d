"""The options of ``piiloom surrogate run`` as keywords of a Python function: typed, checked, with the command's own defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, TypedDict

from piiloom.cli.keyword_checks import checked_keywords
from piiloom.cli.surrogate_options import RENAMED, InputOptions, RunOptions, warning_of_old_value


class SurrogateOptions(TypedDict, total=False):
    """The options of ``piiloom surrogate run``, named as there; its ``--help`` says what each does.

    ``file_format`` is ``--format``. ``values="llm"`` sends sentences to a model and needs ``yes=True``.
    ``groups="exact"`` and ``values="code"`` are old spellings of "balanced" and "local".
    """

    text_field: list[str] | None
    id_field: str | None
    question_field: str | None
    file_format: str | None
    encoding: str | None
    header: bool
    delimiter: str | None
    quoting: Literal["auto", "csv", "none"]
    max_unpacked: int
    skip_bad_rows: bool
    spans: bool
    spans_field: str | None
    placeholders: str
    on_unknown: Literal["keep", "error", "generic"]
    locale: str
    language_words: Literal["auto", "none"]
    seed: int | None
    scope: Literal["document", "corpus"]
    same_value: Literal["document", "corpus", "off"]
    strategy: Literal["consistent", "per-mention", "markov"]
    keep: float
    groups: Literal["balanced", "weights", "cue", "exact"]
    weights: str
    person_groups: bool
    english_only: bool
    script: Literal["latin", "native"]
    names: str | Path | None
    link: list[str] | None
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
    values = checked_keywords(SurrogateOptions, (InputOptions, RunOptions), given, command="piiloom surrogate run")
    warnings = [warning for name, value in values.items() if (warning := warning_of_old_value(name, value)) is not None]
    values |= {name: new[values[name]] for name, new in RENAMED.items() if values[name] in new}
    values |= {name: Path(values[name]) for name in ("names", "store", "vault") if values[name] is not None}
    of_input = {field.name: values.pop(field.name) for field in fields(InputOptions) if field.name in values}
    return InputOptions(source=source, **of_input), RunOptions(out=out, **values), warnings
