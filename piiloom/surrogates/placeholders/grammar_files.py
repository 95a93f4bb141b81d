"""The schema and loader of ``data/grammars.yaml``, the built-in grammars (ways of writing a placeholder)."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from piiloom.foundation.yaml_files import load_yaml

Shape = Literal["signs", "run", "word"]
Policy = Literal["any", "upper", "marked", "none"]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)

    name: str
    not_before: str = ""
    not_after: str = ""
    examples: tuple[str, ...]
    never: tuple[str, ...]


class SignsEntry(_Entry):
    """A tag between signs."""

    open: str
    close: str
    inner: str
    upper: float
    lower: float
    unknown: Policy
    kind: str = ""
    needs: str = ""


class RunEntry(_Entry):
    """A run of one sign, between ``open`` and ``close`` if it has them."""

    open: str = ""
    sign: str
    close: str = ""
    least: int = Field(alias="from")
    needs: str = ""
    sure: float


class WordsEntry(_Entry):
    """A placeholder without signs."""

    first: str
    rest: str
    sure: float
    kind: str = ""


class GrammarsFile(BaseModel):
    """``grammars.yaml``; what the keys mean is told there."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    signs: tuple[SignsEntry, ...]
    runs: tuple[RunEntry, ...]
    words: tuple[WordsEntry, ...]
    letters: tuple[str, ...]
    markup: frozenset[str]
    markup_in_capitals: frozenset[str]
    tokens: frozenset[str]
    editorial: frozenset[str]
    redacting: frozenset[str]
    removing: frozenset[str]
    other_scripts: tuple[str, ...]
    streets: tuple[str, ...]
    joiners: tuple[str, ...]
    determiners: tuple[str, ...]


class Grammar(NamedTuple):
    """One way of writing a placeholder.

    ``upper`` and ``lower`` are the confidences (0 to 1) that a tag with known words is a placeholder, if it is in capitals or not.
    ``unknown`` says which tags with unknown words are reported. ``kind`` is set if the form alone tells the kind of value.
    """

    name: str
    shape: Shape
    open: str
    close: str
    upper: float
    lower: float
    unknown: Policy
    kind: str = ""


@cache
def grammars_file() -> GrammarsFile:
    """Read the data file; cached."""
    return load_yaml(files("piiloom.surrogates") / "data" / "grammars.yaml", GrammarsFile)


@cache
def grammars() -> dict[str, Grammar]:
    """Return all grammars by name; cached."""
    data = grammars_file()
    found = [Grammar(s.name, "signs", s.open, s.close, s.upper, s.lower, s.unknown, s.kind) for s in data.signs]
    found += [Grammar(r.name, "run", "", "", r.sure, r.sure, "none") for r in data.runs]
    found += [Grammar(w.name, "word", "", "", w.sure, w.sure, "none", w.kind) for w in data.words]
    return {grammar.name: grammar for grammar in found}
