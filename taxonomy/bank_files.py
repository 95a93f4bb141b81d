"""How bank files look: ``scenarios``, ``clauses`` and ``fillers`` as YAML gives them, checked for shape only."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

PatternText = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Label = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Patterns = Annotated[list[PatternText], Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class QuestionEntry(_Strict):
    """The three versions of a scenario's question, each as patterns."""

    draft: Patterns
    personal: Patterns
    abstracted: Patterns


class ScenarioEntry(_Strict):
    """One scenario as written."""

    id: Label
    pair: Annotated[list[Label], Field(min_length=2, max_length=2)]
    uses: dict[Label, Annotated[list[Label], Field(min_length=1)]]
    subjects: dict[Label, Label] = Field(default_factory=dict)
    topic: Label
    subtopics: Annotated[list[Label], Field(min_length=1)]
    rationale: dict[Label, Label]
    situation: Patterns
    question: QuestionEntry


class BankFile(_Strict):
    """A bank file; each of its parts may be missing."""

    scenarios: list[ScenarioEntry] = Field(default_factory=list)
    clauses: dict[Label, Patterns] = Field(default_factory=dict)
    fillers: list[PatternText] = Field(default_factory=list)
