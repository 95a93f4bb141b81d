"""The exercises that ship with piiloom, so that every project has a practice set and a qualifying test from the start."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from pydantic import Field

from piiloom.annotation_app.onboarding.known_answers import KnownAnswer
from piiloom.annotation_app.onboarding.practice import with_errors
from piiloom.corpus.marks import strip_marks
from piiloom.corpus.record import Record, Relevance, Span
from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.taxonomy.entity_types import shipped_taxonomy

ExerciseKind = Literal["practice", "qualifying"]


class _Value(FileModel):
    type: str
    relevance: Relevance
    why: str | None = None


class _Exercise(FileModel):
    id: str
    context: str
    question: str
    spans: dict[str, _Value] = Field(min_length=1)


class _Exercises(FileModel):
    practice: list[_Exercise]
    qualifying: list[_Exercise]


def shipped_answers(kind: ExerciseKind, *, seed: int = 0, errors: int = 2) -> list[KnownAnswer]:
    """Return the shipped exercises of *kind*, with up to *errors* planted errors each, and explanations of their spans."""
    reasons = {exercise.id: exercise for exercise in getattr(_load(), kind)}
    answers = with_errors([_record(exercise) for exercise in reasons.values()], kind, seed, errors)
    return [replace(answer, detail={**answer.detail, "reasons": _reasons(reasons[answer.shown.id], answer)}) for answer in answers]


def _reasons(exercise: _Exercise, answer: KnownAnswer) -> dict[str, str]:
    found = {mark.id: exercise.spans[mark.value_id or ""].why for mark in answer.reference.marks}
    return {name: why for name, why in found.items() if why}


def _record(exercise: _Exercise) -> Record:
    marked = strip_marks(exercise.context)
    known = shipped_taxonomy()
    spans = tuple(
        Span(
            id=f"s{number}",
            start=mention.start,
            end=mention.end,
            entity_type=known.get(exercise.spans[mention.value_id].type).name,
            relevance=exercise.spans[mention.value_id].relevance,
            value_id=mention.value_id,
        )
        for number, mention in enumerate(marked.mentions, 1)
    )
    return Record(id=exercise.id, context=marked.text, question=exercise.question, spans=spans)


@lru_cache(maxsize=1)
def _load() -> _Exercises:
    return load_yaml(files("piiloom.annotation_app.onboarding") / "default_exercises.yaml", _Exercises)
