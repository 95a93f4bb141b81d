"""Put a newly drawn value in the place of one that two splits have: where it is possible, and which mentions change."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from piiloom.corpus.releases.members import Member, Value
from piiloom.corpus.store.releases import NewValue
from piiloom.foundation.articles import article

Key = tuple[str, str]

_SHORTEST_NAME_PART = 3
_BEFORE = 8  # characters before a value in which an article is looked for
_ARTICLE = re.compile(r"(?i)(?<!\w)(an?)\s+$")


class Draw(Protocol):
    """Draws another value of the same kind that is not in *avoid*, in whatever spelling; None if there is none."""

    def __call__(
        self, entity_type: str, subtype: str | None, value: str, *, locale: str, rng: random.Random, avoid: Container[str]
    ) -> str | None:
        """Draw a value for *value*, which has this type, subtype and locale."""


@dataclass(frozen=True, slots=True)
class TextRedraw:
    """A value (type, case-folded text) and all records of one text in a split, as (position, member); all of them mark it alike."""

    key: Key
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


def can_redraw(member: Member, key: Key) -> bool:
    """Whether the value *key* can be replaced in *member*: all of it is marked, and nothing else in the record depends on it.

    Not so if it also stands unmarked in the context, as a value of another type, or in the question; if a mention of other wording is of
    the same value or person (``value_id``); or, for a name, if a part of it stands elsewhere.
    """
    mentions = _mentions(member, key)
    ids = {value.value_id for value in mentions} - {None}
    if not mentions or any(value.value_id in ids and member.key_of(value) != key for value in member.values):
        return False
    parts = [key[1]]
    if key[0] == "name":
        parts += [part for part in re.findall(r"\w+", key[1]) if len(part) >= _SHORTEST_NAME_PART]
    elsewhere = [member.question or "", _around(member.context, mentions)]
    return not any(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text.casefold()) for part in parts for text in elsewhere)


def draw_for(redraws: Sequence[TextRedraw], draw: Draw, rng: random.Random, known: Collection[str]) -> str | None:
    """Draw one value for all *redraws*, of the kind and locale of the first; None if none is new to all of them and to *known*."""
    member, mention = redraws[0].first
    avoid = _Avoided(known, redraws)
    new = draw(mention.entity_type, mention.subtype, member.text_of(mention), locale=member.locale, rng=rng, avoid=avoid)
    return new if new is not None and new.strip() and new not in avoid else None


@dataclass(frozen=True, slots=True)
class _Avoided:
    """Values that exist already (*known*, case-folded) and those that do not fit into all texts."""

    known: Collection[str]
    redraws: Sequence[TextRedraw]

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, str):
            return False
        return value.casefold() in self.known or not all(redraw.allows(value) for redraw in self.redraws)


def _mentions(member: Member, key: Key) -> list[Value]:
    return [value for value in member.values if member.key_of(value) == key]


def _fits_article(member: Member, value: Value, new: str) -> bool:
    """Whether an English indefinite article before *value* is right before *new*, too."""
    found = _ARTICLE.search(member.context, max(0, value.start - _BEFORE), value.start) if member.locale.startswith("en") else None
    return found is None or article(new, member.locale) == found[1].lower()


def _around(context: str, mentions: Sequence[Value]) -> str:
    """Return *context* without *mentions*, each of which leaves a line break, so that nothing new arises."""
    pieces, done = [], 0
    for mention in mentions:
        pieces.append(context[done : mention.start])
        done = mention.end
    return "\n".join([*pieces, context[done:]])


def _in_case_of(old: str, new: str) -> str:
    """Return *new* in capitals if *old* is, and otherwise as it is; never another value."""
    capitals = new.upper() if old.isupper() and len(old) > 1 else new
    return capitals if capitals.casefold() == new.casefold() else new
