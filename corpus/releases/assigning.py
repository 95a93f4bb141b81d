"""Assign the members of a release to splits, and measure what its splits share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from piiloom.corpus.formats.base import Json
from piiloom.corpus.record import Record
from piiloom.corpus.releases.grouping import Member
from piiloom.corpus.releases.settings import SplitSettings
from piiloom.corpus.releases.splits import split_members
from piiloom.corpus.split_names import TEST, TRAIN
from piiloom.corpus.store.releases import NewValue
from piiloom.foundation.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Record ids by split, (id, reason) of the records in none, values drawn anew, and remarks for people."""

    ids: Mapping[str, tuple[str, ...]]
    withheld: tuple[tuple[str, str], ...]
    new_values: tuple[NewValue, ...] = ()
    notes: tuple[str, ...] = ()


def assign(members: Sequence[Member], settings: SplitSettings) -> Assignment:
    """Split *members* as *settings* say."""
    if settings.validation_size or settings.folds:
        raise UsageError("there can be a test split only", where="splits", remedy="Leave the validation size and the folds out")
    split = split_members(members, test_size=settings.test_size, seed=settings.seed)
    ids = {TRAIN: split.train_ids, TEST: split.test_ids}
    return Assignment(ids={name: held for name, held in ids.items() if held}, withheld=split.withheld)


def leakage_of(splits: Mapping[str, Callable[[], Iterator[Record]]]) -> Json | None:  # noqa: ARG001 - no measure yet
    """Return what *splits* (a function that reads its records, by name) share; None for fewer than two."""
    return None
