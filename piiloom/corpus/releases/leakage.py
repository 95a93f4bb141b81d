"""Leakage in numbers: how much of each split another split has seen.

Each split other than train is compared with train; folds (there is no train) are compared with all other folds together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.formats.base import Json
from piiloom.corpus.near_duplicates import Numbers, Wordings
from piiloom.corpus.normalising import value_form
from piiloom.corpus.record import TRAIN, Record, in_order
from piiloom.corpus.releases.grouping import NEAR
from piiloom.taxonomy.entity_types import Taxonomy

OTHER_FOLDS = "other folds"
_STORIES = ("story:", "scenario:")
_PERSONAS = ("persona:",)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenShare:
    """*seen* of *of* things are in the other split, too."""

    seen: int
    of: int

    @property
    def share(self) -> float | None:
        """The share that is seen; None of nothing."""
        return self.seen / self.of if self.of else None

    def to_json(self) -> Json:
        """Return both numbers and the share (six places)."""
        return {"seen": self.seen, "of": self.of, "share": None if self.share is None else round(self.share, 6)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitLeakage:
    """How much of one split is in *against*.

    Of distinct values (type and ``value_form``): ``values``, ``by_type``, and ``open_values`` (those of types whose values seldom
    repeat). Of distinct forms of values, whatever their type: ``strings``. Of records: those whose context or question is a
    near-duplicate of one there (``near``; same words included) or has the same words in the same order (``same``), those of a story or
    scenario that is there, and those of a persona that is there; ``of`` counts the records that have a question, a story, a persona.
    """

    records: int
    against: str
    values: SeenShare
    open_values: SeenShare
    by_type: Mapping[str, SeenShare]
    strings: SeenShare
    contexts_near: SeenShare
    contexts_same: SeenShare
    questions_near: SeenShare
    questions_same: SeenShare
    stories: SeenShare
    personas: SeenShare

    def to_json(self) -> Json:
        """Return the figures as JSON values."""
        return {
            "records": self.records,
            "against": self.against,
            "values": self.values.to_json(),
            "open_values": self.open_values.to_json(),
            "by_type": {name: seen.to_json() for name, seen in self.by_type.items()},
            "strings": self.strings.to_json(),
            "contexts": {"near": self.contexts_near.to_json(), "same": self.contexts_same.to_json()},
            "questions": {"near": self.questions_near.to_json(), "same": self.questions_same.to_json()},
            "stories": self.stories.to_json(),
            "personas": self.personas.to_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakageReport:
    """The leakage of each split that is compared with another, in the order of the splits."""

    splits: Mapping[str, SplitLeakage]

    def to_json(self) -> Json:
        """Return the figures by split."""
        return {name: split.to_json() for name, split in self.splits.items()}


@dataclass(slots=True)
class _Contents:
    """What is kept of the records of a split: its values, and the keys of each record; texts are kept for all splits together."""

    values: set[tuple[str, str]] = field(default_factory=set)
    keys: list[tuple[str, ...]] = field(default_factory=list)


def measure_leakage(splits: Mapping[str, Iterable[Record]], taxonomy: Taxonomy) -> LeakageReport:
    """Measure the leakage between *splits*, whose records are read once, split by split in order (``split_names``).

    Nothing is compared if there is only one split.
    """
    contents: dict[str, _Contents] = {}
    contexts, questions = _Texts(), _Texts()
    for number, name in enumerate(in_order(splits)):
        held = contents[name] = _Contents()
        for record in splits[name]:
            held.values.update((span.entity_type, value_form(span.entity_type, span.text_in(record.context))) for span in record.spans)
            held.keys.append(tuple(key for key in record.group_keys if key.startswith((*_STORIES, *_PERSONAS))))
            contexts.add(record.context, number)
            if record.question is not None:
                questions.add(record.question, number)
    names = list(contents)
    train = names.index(TRAIN) if TRAIN in contents else None
    in_contexts, in_questions = contexts.seen(len(names), train), questions.seen(len(names), train)
    found: dict[str, SplitLeakage] = {}
    for number, name in enumerate(names):
        others = [contents[TRAIN]] if TRAIN in contents else [contents[other] for other in names if other != name]
        if name != TRAIN and others:
            texts = (*in_contexts[number], *in_questions[number])
            found[name] = _compared(contents[name], others, TRAIN if TRAIN in contents else OTHER_FOLDS, texts, taxonomy)
    return LeakageReport(splits=found)


class _Texts:
    """The texts of all splits, and which split each belongs to."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._splits: list[int] = []

    def add(self, text: str, split: int) -> None:
        """Take a text of a split."""
        self._texts.append(text)
        self._splits.append(split)

    def seen(self, count: int, train: int | None) -> dict[int, tuple[SeenShare, SeenShare]]:
        """Return, for each of *count* splits, how many texts nearly repeat one of train, and how many have the same words.

        If *train* is None, they are compared with all other splits.
        """
        wordings, split = Wordings(self._texts), np.array(self._splits, dtype=np.int64)
        self._texts.clear()
        # held[w, s]: wording w is in split s; same[w, s]: it is in a split that s is compared with.
        held = np.zeros((wordings.count, count), dtype=np.bool_)
        held[wordings.of_text, split] = True
        same = _compared_with(held, train)
        near = same.copy()

        def unknown(left: Numbers, right: Numbers) -> NDArray[np.bool_]:
            return np.asarray(((held[left] & ~near[left]) | (held[right] & ~near[right])).any(axis=1))

        for left, right in wordings.near_pairs(NEAR, wanted=unknown):
            for one, other in ((left, right), (right, left)):
                np.logical_or.at(near, one, _compared_with(held[other], train))
        numbers = np.bincount(split, minlength=count).tolist()
        near_counts = np.bincount(split, weights=near[wordings.of_text, split], minlength=count).astype(int).tolist()
        same_counts = np.bincount(split, weights=same[wordings.of_text, split], minlength=count).astype(int).tolist()
        counts = enumerate(zip(near_counts, same_counts, numbers, strict=True))
        return {at: (SeenShare(seen=near_count, of=of), SeenShare(seen=same_count, of=of)) for at, (near_count, same_count, of) in counts}


def _compared_with(held: NDArray[np.bool_], train: int | None) -> NDArray[np.bool_]:
    """Return, for rows of *held* (wordings × splits), whether a split that each split is compared with holds the wording."""
    if train is None:
        return np.asarray((held.sum(axis=1, keepdims=True) - held) > 0)
    return np.repeat(held[:, [train]], held.shape[1], axis=1)


def _compared(
    held: _Contents, others: Sequence[_Contents], against: str, texts: tuple[SeenShare, SeenShare, SeenShare, SeenShare], taxonomy: Taxonomy
) -> SplitLeakage:
    known: set[tuple[str, str]] = set().union(*(other.values for other in others))
    keys = {key for other in others for own in other.keys for key in own}
    types = taxonomy.types
    order = [*(name for name in types), *sorted({name for name, _ in held.values if name not in types})]
    by_type = {name: {value for value in held.values if value[0] == name} for name in order}
    return SplitLeakage(
        records=len(held.keys),
        against=against,
        values=_seen(held.values, known),
        open_values=_seen({value for value in held.values if value[0] in types and types[value[0]].open}, known),
        by_type={name: _seen(values, known) for name, values in by_type.items() if values},
        strings=_seen({text for _, text in held.values}, {text for _, text in known}),
        contexts_near=texts[0],
        contexts_same=texts[1],
        questions_near=texts[2],
        questions_same=texts[3],
        stories=_seen_keys(held.keys, keys, _STORIES),
        personas=_seen_keys(held.keys, keys, _PERSONAS),
    )


def _seen(values: set[T], known: Collection[T]) -> SeenShare:
    return SeenShare(seen=len(values.intersection(known)), of=len(values))


def _seen_keys(keys: Iterable[tuple[str, ...]], known: Collection[str], prefixes: tuple[str, ...]) -> SeenShare:
    own = [[key for key in of_record if key.startswith(prefixes)] for of_record in keys]
    return SeenShare(seen=sum(any(key in known for key in of_record) for of_record in own), of=sum(map(bool, own)))
