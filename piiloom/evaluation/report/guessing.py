"""Guessability: how well relevance is predicted without reading the text.

A detector can learn such a shortcut instead of the task, so figures near .5 are good. Each predictor knows one feature (key) of
a span. For each key it predicts the label of which it holds the larger share of all spans with that label; the figure is the
balanced accuracy on the same spans. In-sample figures exceed .5 by chance, more so with many keys and few spans; ``shuffled`` is
what the same predictor reaches with randomly permuted labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from piiloom.corpus.record import Record
from piiloom.evaluation.report.leaks import judged_words
from piiloom.foundation.seeding import derive_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANCE = 0.5
_SHUFFLES = 20
_PLACES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """Balanced accuracy of one predictor, and its mean over shuffled labels; both None if only one label occurs."""

    accuracy: float | None
    shuffled: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Guessability:
    """How well relevance is guessed from each feature; ``spans`` counts the spans with a relevance.

    ``story_and_slot``: guessed from the story or scenario, type and subtype, for records that were planned on a story or scenario.
    """

    spans: int
    type: Guess
    position: Guess
    word_overlap: Guess
    type_and_position: Guess
    story_and_slot: Guess


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clue:
    """The features of one span. ``place``: in which tenth of the record's spans it is, in text order."""

    high: bool
    entity_type: str
    place: int
    overlaps: bool
    slot: tuple[str, str, str] | None


def measure_guessability(records: Iterable[Record], *, seed: int) -> Guessability:
    """Measure all predictors; *seed* determines the shuffled labels."""
    clues = [clue for record in records for clue in _clues(record)]
    planned = [clue for clue in clues if clue.slot is not None]

    def guess(known: Sequence[_Clue], knows: Callable[[_Clue], object]) -> Guess:
        keys = [str(knows(clue)) for clue in known]
        numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
        return _guess([numbers[key] for key in keys], np.array([clue.high for clue in known], dtype=np.int64), seed)

    return Guessability(
        spans=len(clues),
        type=guess(clues, lambda clue: clue.entity_type),
        position=guess(clues, lambda clue: clue.place),
        word_overlap=guess(clues, lambda clue: clue.overlaps),
        type_and_position=guess(clues, lambda clue: (clue.entity_type, clue.place)),
        story_and_slot=guess(planned, lambda clue: clue.slot),
    )


def balanced_accuracy(keys: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    """In-sample balanced accuracy of the best guess of *labels* (0 or 1, both occur) from *keys* (numbers from 0)."""
    counts = np.stack([np.bincount(keys[labels == label], minlength=int(keys.max()) + 1) for label in (0, 1)])
    # For each key, predicting a class adds the key's share of that class to its recall; so take the larger share.
    shares = counts / counts.sum(axis=1, keepdims=True)
    return float(shares.max(axis=0).sum() / 2)


def _clues(record: Record) -> list[_Clue]:
    asked = judged_words(record.question or "")
    total, story = len(record.spans), record.plan.scenario if record.plan else None
    return [
        _Clue(
            high=span.relevance == "high",
            entity_type=span.entity_type,
            place=min(_PLACES - 1, _PLACES * number // total),
            overlaps=not asked.isdisjoint(judged_words(span.text_in(record.context))),
            slot=(story, span.entity_type, span.subtype or "") if story else None,
        )
        for number, span in enumerate(record.spans)
        if span.relevance is not None
    ]


def _guess(keys: Sequence[int], labels: NDArray[np.int64], seed: int) -> Guess:
    if len(set(labels.tolist())) < 2:
        return Guess(accuracy=None, shuffled=None)
    known = np.array(keys, dtype=np.int64)
    order = np.lexsort((labels, known))  # so that the shuffles do not depend on the order of records
    known, labels = known[order], labels[order]
    rng = np.random.default_rng(derive_seed(seed, "guessability"))
    shuffled = [balanced_accuracy(known, rng.permutation(labels)) for _ in range(_SHUFFLES)]
    return Guess(accuracy=balanced_accuracy(known, labels), shuffled=float(np.mean(shuffled)))
