"""Limit the share of values of open types that a split has in common with train.

``limit_overlap`` changes a division of records into splits in one of three ways (``OverlapBy``): values are drawn anew in the texts of
the test split, their records are moved to train, or left out. The values for which the fewest records change go first (ties: by type
and text). The share is that of ``piiloom.corpus.releases.leakage``: of the distinct values (type and form) of open types
in a split, those that are in train, too; of a fold, those in any other fold.
"""

from __future__ import annotations

import heapq
import random
import re
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from piiloom.corpus.normalising import value_form, without_separators
from piiloom.corpus.record import TEST, TRAIN, VALIDATION, in_order, with_parts
from piiloom.corpus.releases.grouping import Member, Value
from piiloom.corpus.releases.release_options import OverlapBy, SplitSettings
from piiloom.corpus.store.releases import NewValue
from piiloom.foundation.articles import article
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted

ValueKey = tuple[str, str]

_SHORTEST_NAME_PART = 3
_BEFORE = 8  # characters before a value in which an article is looked for
_ARTICLE = re.compile(r"(?i)(?<!\w)(an?)\s+$")


class ValueDraw(Protocol):
    """Draws another value of the same kind that is not in *avoid*, in whatever spelling; None if there is none."""

    def __call__(
        self, entity_type: str, subtype: str | None, value: str, *, locale: str, rng: random.Random, avoid: Container[str]
    ) -> str | None:
        """Draw a value for *value*, which has this type, subtype and locale."""


@dataclass(frozen=True, slots=True)
class TextRedraw:
    """A value (type and form) and all records of one text in a split, as (position, member); all of them mark it alike."""

    key: ValueKey
    records: Sequence[tuple[int, Member]]

    @property
    def first(self) -> tuple[Member, Value]:
        """The first mention of the value."""
        member = self.records[0][1]
        return member, _mentions(member, self.key)[0]

    def allows(self, new: str) -> bool:
        """Whether *new* fits: no text or question holds it (as an unmarked mention), and an article before a mention stays right."""
        return all(
            new.casefold() not in text.casefold() for _, member in self.records for text in (member.context, member.question or "")
        ) and all(_fits_article(member, value, new) for _, member in self.records for value in _mentions(member, self.key))

    def with_value(self, new: str) -> Iterator[tuple[int, list[NewValue]]]:
        """Yield, for each record, the mentions with their new value; a mention in capitals gets it in capitals."""
        for at, member in self.records:
            changes = [(value.start, value.end, _in_case_of(member.text_of(value), new)) for value in _mentions(member, self.key)]
            yield (
                at,
                [NewValue(record_id=member.id, revision=member.revision, start=start, end=end, value=text) for start, end, text in changes],
            )


def can_redraw(member: Member, key: ValueKey) -> bool:
    """Whether the value *key* can be replaced in *member*: all of it is marked, and nothing else in the record depends on it.

    Not so if it also stands unmarked in the context, as a value of another type, or in the question; if a mention of other wording is of
    the same value or person (``value_id``); or, for a name, if a part of it stands elsewhere.
    """
    mentions = _mentions(member, key)
    ids = {value.value_id for value in mentions} - {None}
    if not mentions or any(value.value_id in ids and member.key_of(value) != key for value in member.values):
        return False
    around = with_parts(member.context, ((one.start, one.end, "\0") for one in mentions))  # so that nothing new arises
    parts = {value_form("", member.text_of(mention)) for mention in mentions}
    if key[0] == "name":
        parts |= {part for part in re.findall(r"\w+", key[1]) if len(part) >= _SHORTEST_NAME_PART}
    elsewhere = [value_form("", text) for text in (member.question or "", around)]
    if key[1] not in parts and any(key[1] in without_separators(text) for text in elsewhere):
        return False
    return not any(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) for part in parts for text in elsewhere)


def draw_for(redraws: Sequence[TextRedraw], draw: ValueDraw, rng: random.Random, known: Collection[str]) -> str | None:
    """Draw one value for all *redraws*, of the kind and locale of the first; None if none is new to all of them and to *known*."""
    member, mention = redraws[0].first
    avoid = _Avoided(known, redraws)
    new = draw(mention.entity_type, mention.subtype, member.text_of(mention), locale=member.locale, rng=rng, avoid=avoid)
    return new if new is not None and new.strip() and new not in avoid else None


@dataclass(frozen=True, slots=True)
class _Avoided:
    """Values that exist already (*known*, their forms) and those that do not fit into all texts."""

    known: Collection[str]
    redraws: Sequence[TextRedraw]

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, str):
            return False
        form = value_form(self.redraws[0].key[0], value)
        return form in self.known or not all(redraw.allows(value) for redraw in self.redraws)


def _mentions(member: Member, key: ValueKey) -> list[Value]:
    return [value for value in member.values if member.key_of(value) == key]


def _fits_article(member: Member, value: Value, new: str) -> bool:
    """Whether an English indefinite article before *value* is right before *new*, too."""
    found = _ARTICLE.search(member.context, max(0, value.start - _BEFORE), value.start) if member.locale.startswith("en") else None
    return found is None or article(new, member.locale) == found[1].lower()


def _in_case_of(old: str, new: str) -> str:
    """Return *new* in capitals if *old* is, and otherwise as it is; never another value."""
    capitals = new.upper() if old.isupper() and len(old) > 1 else new
    return capitals if capitals.casefold() == new.casefold() else new


_ROUNDING = 1e-9


@dataclass(slots=True)
class Limited:
    """A division after the limit: split by record id (those left out are missing), and what was done."""

    split_of: dict[str, str]
    withheld: dict[str, str]
    redrawn: list[NewValue]
    notes: list[str]


def limit_overlap(
    members: Sequence[Member], split_of: Mapping[str, str], groups: Sequence[Sequence[str]], settings: SplitSettings, draw: ValueDraw | None
) -> Limited:
    """Return a division whose splits keep ``settings.max_value_overlap``; *groups* are the ids that must stay together.

    The result does not depend on the order of *members*, but for the values that are drawn: no seed determines them, since whoever knew it
    could prove which value of train stood in their place. Raises ``UsageError`` for a limit outside [0, 1], for folds with ``move``,
    and if only an empty split would keep the limit.
    """
    limit = settings.max_value_overlap
    if limit is None:
        return Limited(dict(split_of), {}, [], [])
    if not 0.0 <= limit <= 1.0:
        raise UsageError("the value overlap is out of range", where="max value overlap", remedy="Give a share from 0 to 1, such as 0.05")
    splits = in_order(split_of.values())
    if TRAIN not in splits and settings.overlap_by == "move":
        raise UsageError("folds have no train split to move records to", where="overlap by", remedy="Use redraw or withhold with folds")
    holdings = _Holdings(sorted(members, key=lambda member: member.id), split_of, groups)
    work = _Work(holdings, limit, settings.overlap_by, draw)
    bounded = [split for split in splits if split in {TEST, VALIDATION} or TRAIN not in splits]
    # Records that move to train may take values there that another split has: begin again until all keep the limit.
    while exceeding := [split for split in bounded if holdings.exceeds(split, limit)]:
        work.reduce(exceeding[0])
    return work.result()


class _Holdings:
    """Which values (of open types) each split has, kept up to date while records change."""

    def __init__(self, members: Sequence[Member], split_of: Mapping[str, str], groups: Sequence[Sequence[str]]) -> None:
        self.members = members
        position = {member.id: at for at, member in enumerate(members)}
        self.split: list[str | None] = [split_of.get(member.id) for member in members]
        self.group_of: dict[int, list[int]] = {}
        for group in groups:
            together = [position[record_id] for record_id in group]
            self.group_of.update(dict.fromkeys(together, together))
        self.of_text: dict[str, list[int]] = {}
        self.keys = [{member.key_of(value) for value in member.values if value.open} for member in members]
        self.known = {text for member in members for _, text in map(member.key_of, member.values)}
        self.holders: dict[ValueKey, list[int]] = {}
        self.spelling: dict[ValueKey, ValueKey] = {}
        for member in members:
            for value in member.values:
                key, spelt = member.key_of(value), member.spelling_of(value)
                self.spelling[key] = min(spelt, self.spelling.get(key, spelt))
        self._counts: dict[str, Counter[ValueKey]] = {split: Counter() for split in set(split_of.values())}
        self._everywhere: Counter[ValueKey] = Counter()
        self.against = TRAIN if TRAIN in self._counts else "another fold"
        for at, member in enumerate(members):
            self.of_text.setdefault(member.context, []).append(at)
            for key in self.keys[at]:
                self.holders.setdefault(key, []).append(at)
                self._count(key, self.split[at], 1)

    def _count(self, key: ValueKey, split: str | None, by: int) -> None:
        if split is not None:
            self._counts[split][key] += by
            self._everywhere[key] += by
            if not self._counts[split][key]:
                del self._counts[split][key]

    def is_shared(self, key: ValueKey, split: str) -> bool:
        """Whether *split* has the value and so has train (for a fold: any other fold)."""
        here = self._counts[split][key]
        return here > 0 and (self._counts[TRAIN][key] > 0 if TRAIN in self._counts else self._everywhere[key] > here)

    def shared(self, split: str) -> list[ValueKey]:
        """The values of *split* that are in train, too."""
        return [key for key in self._counts[split] if self.is_shared(key, split)]

    def distinct(self, split: str) -> int:
        """How many different values *split* has."""
        return len(self._counts[split])

    def exceeds(self, split: str, limit: float) -> bool:
        """Whether the share is above *limit*."""
        return len(self.shared(split)) > limit * self.distinct(split) + _ROUNDING

    def put(self, at: int, split: str | None) -> None:
        """Move a record to *split*, or out of all."""
        for key in self.keys[at]:
            self._count(key, self.split[at], -1)
            self._count(key, split, 1)
        self.split[at] = split

    def exchange(self, at: int, old: ValueKey, new: ValueKey) -> None:
        """Put a new value in the place of one that the record has."""
        self.keys[at].remove(old)
        self._count(old, self.split[at], -1)
        if new not in self.keys[at]:
            self.keys[at].add(new)
            self._count(new, self.split[at], 1)


class _Work:
    """What has been changed so far, and how the next value is dealt with."""

    def __init__(self, holdings: _Holdings, limit: float, by: OverlapBy, draw: ValueDraw | None) -> None:
        self._holdings, self._limit, self._by, self._draw = holdings, limit, by, draw
        self._withheld: dict[str, str] = {}
        self._redrawn: dict[int, list[NewValue]] = {}
        self._moved: Counter[str] = Counter()
        self._values: Counter[str] = Counter()

    def reduce(self, split: str) -> None:
        """Deal with shared values, the rarest first, until the share of *split* keeps the limit."""
        holdings = self._holdings
        shared = set(holdings.shared(split))
        heap = [(len(self._changing(key, split)), holdings.spelling[key], key) for key in shared]
        heapq.heapify(heap)
        while len(shared) > self._limit * holdings.distinct(split) + _ROUNDING:
            key = heapq.heappop(heap)[-1]
            if key not in shared:
                continue
            touched = self._deal_with(key, split)
            for other in touched:
                if holdings.is_shared(other, split):
                    if other not in shared:
                        shared.add(other)
                        heapq.heappush(heap, (len(self._changing(other, split)), holdings.spelling[other], other))
                else:
                    shared.discard(other)
            if split not in holdings.split:
                raise UsageError(
                    f"only an empty {split} split would have at most {self._limit:.1%} of its values in common with train",
                    where="max value overlap",
                    remedy="Raise the limit, or have values drawn anew (redraw)",
                )

    def _changing(self, key: ValueKey, split: str) -> list[int]:
        """Return the records of *split* that have the value; if records move, with the groups that they must stay in."""
        holdings = self._holdings
        holding = [at for at in holdings.holders[key] if holdings.split[at] == split and key in holdings.keys[at]]
        if self._by != "move":
            return holding
        return sorted({other for at in holding for other in holdings.group_of[at] if holdings.split[other] == split})

    def _deal_with(self, key: ValueKey, split: str) -> set[ValueKey]:
        """Take the value out of *split*; return all values whose counts may have changed."""
        holdings = self._holdings
        changing = self._changing(key, split)
        touched = {key}
        if self._by == "move":
            for at in changing:
                touched |= holdings.keys[at]
                holdings.put(at, TRAIN)
            self._moved[split] += len(changing)
            return touched
        if self._by == "redraw":
            changing = self._redraw(key, split, changing)
        for at in changing:
            touched |= holdings.keys[at]
            holdings.put(at, None)
            self._redrawn.pop(at, None)
            self._withheld[holdings.members[at].id] = f"it has a value of type {key[0]} that is also in {holdings.against}"
        return touched

    def _redraw(self, key: ValueKey, split: str, holding: Sequence[int]) -> list[int]:
        """Draw the value anew in all texts of *split* that allow it; return the positions of the records that do not."""
        holdings = self._holdings
        texts = dict.fromkeys(holdings.members[at].context for at in holding)
        redraws: list[TextRedraw] = []
        left: list[int] = []
        for text in texts:
            twins = [at for at in holdings.of_text[text] if holdings.split[at] == split]
            if all(can_redraw(holdings.members[at], key) for at in twins):
                redraws.append(TextRedraw(key, [(at, holdings.members[at]) for at in twins]))
            else:
                left += twins
        new = draw_for(redraws, self._draw, random.SystemRandom(), holdings.known) if redraws and self._draw is not None else None
        drawn = None if new is None else (key[0], value_form(key[0], new))
        for redraw in redraws:
            if new is None or drawn is None:
                left += [at for at, _ in redraw.records]
                continue
            for at, values in redraw.with_value(new):
                self._redrawn.setdefault(at, []).extend(values)
                holdings.exchange(at, key, drawn)
        if new is not None and drawn is not None:
            holdings.spelling.setdefault(drawn, (key[0], new.casefold()))
            holdings.known.add(drawn[1])
            self._values[split] += 1
        return left

    def result(self) -> Limited:
        """Return the division and what was done, records by id."""
        members = self._holdings.members
        notes = [
            f"{counted(count, 'record')} moved from {split} to train, as their values are in both" for split, count in self._moved.items()
        ]
        against = self._holdings.against
        notes += [f"{counted(count, 'value')} of {split} drawn anew, as {against} has them, too" for split, count in self._values.items()]
        if self._withheld:
            notes.append(f"{counted(len(self._withheld), 'record')} left out, as their values are in two splits")
        return Limited(
            split_of={member.id: split for member, split in zip(members, self._holdings.split, strict=True) if split is not None},
            withheld=dict(self._withheld),
            redrawn=[value for at in sorted(self._redrawn) for value in sorted(self._redrawn[at], key=lambda value: value.start)],
            notes=notes,
        )
