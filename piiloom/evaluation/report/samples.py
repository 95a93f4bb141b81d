"""The records that the page shows and those that it lets people search: drawn by seed, the records of one text together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from piiloom.corpus.record import Record
from piiloom.foundation.seeding import derive_rng

SHOWN = 30
SEARCHED = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """A record and its split."""

    record: Record
    split: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Families in seeded order: the records of one text with several questions, or a single record.

    ``searched`` holds up to ``SEARCHED`` records, ``shown`` is its beginning, of up to ``SHOWN`` records.
    """

    shown: tuple[tuple[Sampled, ...], ...]
    searched: tuple[tuple[Sampled, ...], ...]

    def shown_ids(self) -> list[str]:
        """Return the ids of the records that are shown."""
        return [each.record.id for family in self.shown for each in family]


def draw_samples(splits: Mapping[str, Sequence[Record]], *, seed: int) -> Samples:
    """Draw from the records of all *splits*; the draw does not depend on their order within a split."""
    families: dict[tuple[str, ...], list[Sampled]] = {}
    for split, records in splits.items():
        for record in records:
            group = record.contrast_group
            key = ("record", split, record.id) if group is None else ("text", group, record.context)
            families.setdefault(key, []).append(Sampled(record=record, split=split))
    ordered = [sorted(families[key], key=lambda each: each.record.id) for key in sorted(families)]
    derive_rng(seed, "page").shuffle(ordered)
    return Samples(shown=_first(ordered, SHOWN), searched=_first(ordered, SEARCHED))


def _first(families: Sequence[Sequence[Sampled]], limit: int) -> tuple[tuple[Sampled, ...], ...]:
    """Return the first whole families with up to *limit* records in total; a first one that is larger is cut."""
    taken: list[tuple[Sampled, ...]] = []
    left = limit
    for family in families:
        if len(family) > left and taken:
            break
        taken.append(tuple(family[:left]))
        left -= len(taken[-1])
    return tuple(taken)
