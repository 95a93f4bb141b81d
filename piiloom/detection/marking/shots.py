"""Draw examples with their answers from records, in the form of a training set.

Each type is shown as often as every other, as far as the records allow; the same seed gives the same examples. No example comes from the
group of the text: a record is left out if it has the same text, if it shares a group key with the text or with such a record, or if its
text is part of the text. Nor do two examples come from one group. Most texts get the same examples, as prompt caches of providers like.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple, Self

from piiloom.corpus.formats.base import ReadOptions, read_records
from piiloom.corpus.formats.instruction_tuning import asks_relevance, message
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.markers import TYPES, MarkerSet, marked_text
from piiloom.corpus.record import Record
from piiloom.foundation.errors import DataError
from piiloom.foundation.seeding import derive_rng
from piiloom.providers.protocol import Message
from piiloom.taxonomy.entity_types import Taxonomy

_MOST_KEPT: Final = 256  # draws without certain groups, each kept for other texts of the groups


class _ShotCandidate(NamedTuple):
    """A record, the types that it shows, and the keys that records of its group share: group keys, and the text."""

    record: Record
    types: frozenset[str]
    keys: frozenset[str]


class Shots:
    """Up to *count* examples of *records* for a text.

    No example has no spans, a type that *taxonomy* lacks, or more than *longest* characters. *where* names the file in errors.
    """

    def __init__(
        self,
        records: Iterable[Record],
        count: int,
        taxonomy: Taxonomy,
        *,
        seed: int,
        longest: int,
        where: str,
        markers: MarkerSet = TYPES,
    ) -> None:
        groups: defaultdict[str, set[str]] = defaultdict(set)
        usable: list[_ShotCandidate] = []
        for record in records:
            groups[_plain(record.context)].update(record.group_keys)
            types = frozenset(filter(None, (markers.label(span, record.context) for span in record.spans)))
            if types and len(record.context) <= longest and all(span.entity_type in taxonomy.types for span in record.spans):
                usable.append(_ShotCandidate(record, types, frozenset((*record.group_keys, _plain(record.context)))))
        derive_rng("shots", seed).shuffle(usable)
        self._groups, self._count, self._where, self._markers = groups, count, where, markers
        self._usable = {False: usable, True: [one for one in usable if asks_relevance(one.record)]}
        self._drawn = lru_cache(_MOST_KEPT)(lambda relevance, barred: _evenly(self._usable[relevance], count, barred))

    @classmethod
    def read(cls, path: Path, count: int, taxonomy: Taxonomy, *, seed: int, longest: int, markers: MarkerSet = TYPES) -> Self:
        """Return the examples of *path*, native rows. Raises ``DataError`` (file, line, field) for a row that is not a record."""
        options = ReadOptions(taxonomy=taxonomy, blank_contexts=True)
        records = read_records(NativeFormat(), path, options)
        return cls(records, count, taxonomy, seed=seed, longest=longest, where=str(path), markers=markers)

    def messages(self, text: str, *, relevance: bool, group_keys: Collection[str] = ()) -> tuple[Message, ...]:
        """Return the examples for *text*, each a message of the user and the assistant's answer. *relevance*: a question is asked.

        *group_keys* are those of the text, if they are known. Raises ``DataError`` if no record at all can be an example.
        """
        if self._count and not self._usable[relevance]:
            shown = "a question, and spans with their relevance to it" if relevance else "spans of known types in a text of usual length"
            raise DataError(f"no record has {shown}", where=self._where, remedy="Give other --examples, or --shots 0")
        own = {*group_keys, _plain(text), *self._groups.get(_plain(text), ())}
        left_out = frozenset[str]()  # most texts share the draw that leaves nothing out
        while among := {key for one in self._drawn(relevance, left_out) for key in _shared(one, own, text)}:
            left_out |= among
        return tuple(turn for one in self._drawn(relevance, left_out) for turn in _turns(one.record, self._markers, relevance=relevance))


def _shared(candidate: _ShotCandidate, own: AbstractSet[str], text: str) -> AbstractSet[str]:
    """Return the groups for which *candidate* is no example for *text*, of the groups *own*."""
    return candidate.keys if candidate.record.context.strip() in text else candidate.keys & own


def _evenly(candidates: Sequence[_ShotCandidate], count: int, barred: Collection[str]) -> list[_ShotCandidate]:
    """Return *count* of *candidates*, or as many as there are, that show all types as evenly as can be; none of a *barred* group or text.

    They are taken one by one: each time the first of those with most of the types that were shown least, and fewest of the others.
    """
    taken = set(barred)
    shown = Counter({name: 0 for one in candidates for name in one.types})
    drawn: list[_ShotCandidate] = []
    left = [one for one in candidates if taken.isdisjoint(one.keys)]
    while left and len(drawn) < count:
        least = min(shown.values())
        best = min(left, key=lambda one: sum(2 * (shown[name] - least) - 1 for name in one.types))
        drawn.append(best)
        shown.update(best.types)
        taken |= best.keys
        left = [one for one in left if taken.isdisjoint(one.keys)]
    return drawn


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _turns(record: Record, markers: MarkerSet, *, relevance: bool) -> tuple[Message, Message]:
    question = record.question if relevance else None
    spans = record.spans if relevance else tuple(replace(span, relevance=None) for span in record.spans)
    return (
        Message(role="user", content=message(record.context, question)),
        Message(role="assistant", content=marked_text(record.context, spans, markers)),
    )
