"""Examples with their answers, drawn from records, as they stand in a training set.

Drawn so that each type is shown as often as every other, as far as the records allow; with the same seed the same ones. No example comes
from the text's own group: records with its text, or that share a group key with it or with such a record, are left out, and so are those
whose text stands within it. Nor do two examples come from one group. Most texts thus get the same examples, which providers' prompt
caches like.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
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

_MOST_KEPT: Final = 256  # draws without certain groups, each kept in case that another text of the group comes


class Candidate(NamedTuple):
    """A record, the types that it shows, and what records of its group share: group keys, and the text."""

    record: Record
    types: frozenset[str]
    keys: frozenset[str]

    @classmethod
    def of(cls, record: Record, markers: MarkerSet = TYPES) -> Self:
        """Make the candidate for *record*; its types are those that *markers* can mark."""
        labels = (markers.label(span, record.context) for span in record.spans)
        types = frozenset(label for label in labels if label is not None)
        return cls(record, types, frozenset((*record.group_keys, _plain(record.context))))


class Shots:
    """Up to *count* examples of *records* for a text.

    No example is what has no spans, a type that is not of *taxonomy*, or more than *longest* characters. *where* names the file in errors.
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
        known = taxonomy.types
        groups: defaultdict[str, set[str]] = defaultdict(set)
        usable: list[Candidate] = []
        for record in records:
            groups[_plain(record.context)].update(record.group_keys)
            candidate = Candidate.of(record, markers)
            if candidate.types and len(record.context) <= longest and all(span.entity_type in known for span in record.spans):
                usable.append(candidate)
        derive_rng("shots", seed).shuffle(usable)
        self._groups, self._count, self._where, self._markers = groups, count, where, markers
        self._usable = {False: usable, True: [one for one in usable if asks_relevance(one.record)]}
        self._drawn: dict[tuple[bool, frozenset[str]], list[Candidate]] = {}

    @classmethod
    def read(cls, path: Path, count: int, taxonomy: Taxonomy, *, seed: int, longest: int, markers: MarkerSet = TYPES) -> Self:
        """Return those of *path*, native rows. Raises ``DataError`` (file, line, field) for a row that is no record."""
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
        while True:
            drawn = self._draw(own, relevance=relevance)
            within = [one for one in drawn if one.record.context.strip() in text]
            if not within:
                return tuple(turn for one in drawn for turn in _turns(one.record, self._markers, relevance=relevance))
            own.update(key for one in within for key in one.keys)

    def _draw(self, barred: set[str], *, relevance: bool) -> list[Candidate]:
        """Draw without *barred* groups; what is drawn without them is what is drawn with them, unless one of them is among it."""
        left_out = frozenset[str]()
        while True:
            known = (relevance, left_out)
            if known not in self._drawn:
                if len(self._drawn) >= _MOST_KEPT:
                    self._drawn.popitem()
                self._drawn[known] = evenly(self._usable[relevance], self._count, left_out)
            among = {key for one in self._drawn[known] for key in one.keys & barred}
            if not among:
                return self._drawn[known]
            left_out |= among


def evenly(candidates: Sequence[Candidate], count: int, barred: Collection[str] = ()) -> list[Candidate]:
    """Return *count* of *candidates*, or as many as there are, that show all types as evenly as can be; none of a *barred* group or text.

    They are taken one by one: each time the one with most of the types that were shown least and least of the others, of equal ones the
    first.
    """
    taken = set(barred)
    shown = Counter({name: 0 for one in candidates for name in one.types})
    drawn: list[Candidate] = []
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
